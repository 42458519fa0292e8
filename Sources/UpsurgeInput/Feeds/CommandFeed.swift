import CCurl
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a command writes to its standard output, as a stream; whole if the command says so by its exit status.
///
/// `/bin/sh -c` runs it, in a process group of its own, which ends with the feed. Its standard input is empty. What it
/// says on standard error is passed on, and the last lines are part of the error where it fails.
package final class CommandFeed: Feed {
  package let descriptor: Int32
  private let name: String
  /// Whether the name lacks what has been put into the command.
  private let isMasked: Bool
  private let child: CommandChild

  package var expectedByteCount: UInt64? { nil }
  package var provesEnd: Bool { true }

  /// Starts the command.
  /// - Parameters:
  ///   - environment: variables that it gets beside those of this process.
  ///   - mask: what of the command, and of what it says, may not be shown.
  /// - Throws: `usage` for an empty one; `unreadableInput` where it cannot be started.
  package init(
    _ command: String, environment: [String: String] = [:], mask: SecretMask = SecretMask()
  ) throws(UpsurgeError) {
    let given = Source.Opening.commandMark + command
    try Source(given).checkFeed()
    name = mask.name(given)
    isMasked = name != SourceName.redacted(given)
    let output = try FeedPipe(for: name)
    let talk: FeedPipe
    do throws(UpsurgeError) {
      talk = try FeedPipe(for: name)
    } catch {
      systemClose(output.readEnd)
      systemClose(output.writeEnd)
      throw error
    }
    let (process, code) = Self.start(
      command, environment: environment, output: output.writeEnd, talk: talk.writeEnd)
    systemClose(output.writeEnd)
    systemClose(talk.writeEnd)
    if code != 0 {
      systemClose(output.readEnd)
      systemClose(talk.readEnd)
      throw UpsurgeError(
        .unreadableInput,
        "cannot start /bin/sh for \(name.escapedForTerminal): \(String(cString: strerror(code)))",
        hint: "the system may have no process or memory left", underlyingCode: code)
    }
    descriptor = output.readEnd
    let child = CommandChild(process, talk: talk.readEnd, mask: mask)
    self.child = child
    do throws(UpsurgeError) {
      _ = try WorkerThread { child.attend() }
    } catch {
      child.killAtOnce()
      throw error
    }
  }

  deinit {
    systemClose(descriptor)
    child.end()
  }

  package func stop() { child.end() }

  package func checkWhole(cancellation: ReadCancellation?) throws(UpsurgeError) {
    guard let status = child.waitForEnd(isCancelled: { cancellation?.isRequested ?? false }) else {
      throw .interrupted(name)
    }
    if status != 0 { throw failure(status) }
  }

  private func failure(_ status: Int32) -> UpsurgeError {
    let signal = status & 0x7F
    let exitCode = (status >> 8) & 0xFF
    var words = "exit status \(exitCode)"
    if status == CommandChild.unknownStatus {
      words = "a status that is not known, as this process was started with SIGCHLD ignored"
    } else if signal != 0 {
      words = "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
    let lines = child.lastLines.map(\.escapedForTerminal)
    let said = lines.isEmpty ? "; it said nothing" : "; it said: " + lines.joined(separator: " / ")
    let hint =
      status == 127 << 8
      ? "the shell has found no such command; give its path"
      : "try it by itself\(isMasked ? ", with what ${…} stands for put in" : ""): "
        + "sh -c \((Source(name).command ?? name).quotedForShell) >/dev/null"
    return UpsurgeError(
      .badInput, "\(name.escapedForTerminal) failed with \(words)\(said)", position: Position(file: name),
      hint: hint, underlyingCode: status)
  }

  /// The environment of this process with other variables in it.
  private static func variables(_ added: [String: String]) -> [String] {
    var lines: [String] = []
    var next = environ
    while let line = next.pointee {
      let text = String(cString: line)
      if !added.keys.contains(String(text.prefix { $0 != "=" })) { lines.append(text) }
      next += 1
    }
    return lines + added.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  private static func start(
    _ command: String, environment: [String: String], output: Int32, talk: Int32
  ) -> (process: pid_t, code: Int32) {
    let child = ChildStart(
      ["/bin/sh", "-c", command],
      streams: [.file("/dev/null", flags: O_RDONLY), .descriptor(output), .descriptor(talk)],
      environment: environment.isEmpty ? nil : variables(environment),
      // Handlers end with exec; what is ignored stays so, as under nohup, except SIGPIPE, which ends pipelines.
      defaultSignals: [SIGPIPE])
    return child.start()
  }
}
