import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("CommandFeed: what commands write")
struct CommandFeedTests {
  private func read(_ command: String) throws -> Delivery { drain(try FileSource(name: "exec:" + command)) }

  @Test("The output of a command that succeeds, whatever it says beside it")
  func succeeds() throws {
    #expect(try read("printf 'a,b\\n1,2\\n'").bytes == Array("a,b\n1,2\n".utf8))
    #expect(try read("true").bytes.isEmpty && read("true").error == nil)
    let talking = try read("echo warning >&2; echo 1; exec 2>&-; exec 1>&-; sleep 0.05")
    #expect(talking.bytes == Array("1\n".utf8) && talking.error == nil)
    // Standard input is empty, and a pipeline ends as in any shell.
    #expect(try read("cat; yes | head -n 2").bytes == Array("y\ny\n".utf8))
    let source = try FileSource(name: "exec:head -c 3000000 /dev/zero | tr '\\000' x")
    #expect(!source.isSeekable && source.byteCount == nil && source.expectedByteCount == nil)
    #expect(try source.identity() == nil)
    let delivery = drain(source)
    #expect(
      delivery.error == nil && delivery.bytes.count == 3_000_000 && delivery.bytes.allSatisfy { $0 == 0x78 })
    let error = try #require(throws: UpsurgeError.self) { try source.rewind() }
    #expect(error.message == "exec:head -c 3000000 /dev/zero | tr '\\000' x cannot be read twice")
  }

  @Test("A command that fails: what it wrote is delivered, and its end is no end")
  func fails() throws {
    let failed = try read("echo 1; echo first >&2; echo 'second\u{1B}[31m' >&2; exit 3")
    #expect(failed.bytes == Array("1\n".utf8))
    let error = try #require(failed.error)
    #expect(error.code == .badInput)
    #expect(
      error.message.hasSuffix(" failed with exit status 3; it said: first / second\\x1B[31m"),
      "\(error.message)")
    #expect(error.hint?.hasPrefix("try it by itself: sh -c $'echo 1; ") == true)
    let killed = try #require(try read("echo 1; kill -9 $$").error)
    #expect(
      killed.message == "exec:echo 1; kill -9 $$ failed with signal 9 (Killed); it said nothing",
      "\(killed.message)")
    let missing = try #require(try read("/no/such/program").error)
    #expect(missing.code == .badInput && missing.message.contains("failed with exit status 127; it said: "))
    #expect(missing.hint == "the shell has found no such command; give its path")
    let secret = try #require(try read("false https://ann:hidden@example.org/x").error)
    #expect(
      !secret.description.contains("hidden")
        && secret.message.contains("exec:false https://***@example.org/x"))
    for name in ["exec:", "exec:  \t"] {
      let error = try #require(throws: UpsurgeError.self) { try FileSource(name: name) }
      #expect(error.code == .usage)
      #expect(throws: UpsurgeError.self) { try SourceList.expand([Source(name)]) }
    }
  }

  @Test("A failure within compressed output is the command's", arguments: ["gzip", "none"])
  func failsWithinCompressed(kind: String) throws {
    let folder = try TemporaryFolder()
    let content = Compressing.table(50_000, seed: 3)
    let path = try folder.write("a", kind == "gzip" ? Compressing.gzip(content) : content)
    var options = OpenedSource.Options()
    options.sampleByteCount = 1_000
    let source = try OpenedSource(name: "exec:head -c 9000 \(path); exit 7", options: options)
    let delivery = drain(source)
    #expect(content.starts(with: delivery.bytes) && delivery.bytes.count >= 9_000)
    #expect(delivery.error?.message.contains("failed with exit status 7") == true)
  }

  /// Whether a process that has noted its number in a file is there.
  private func isAlive(_ path: String) -> Bool {
    guard let file = fopen(path, "r") else { return false }
    defer { fclose(file) }
    var number: Int32 = 0
    var buffer = [CChar](repeating: 0, count: 64)
    if fgets(&buffer, 64, file) != nil { number = Int32(atoi(buffer)) }
    guard number > 0, kill(number, 0) == 0 else { return false }
    // One that nobody has waited for is gone, too.
    guard let state = fopen("/proc/\(number)/stat", "r") else { return true }
    defer { fclose(state) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, state) != nil else { return false }
    return strstr(line, ") Z") == nil
  }

  private func waitUntil(seconds: Double = 30, _ condition: () -> Bool) -> Bool {
    let end = MonotonicClock.seconds + seconds
    while MonotonicClock.seconds < end {
      if condition() { return true }
      usleep(10_000)
    }
    return condition()
  }

  @Test(
    "A cancellation, or a source that is dropped, ends all that the command has started",
    arguments: [true, false])
  func ends(isCancelled: Bool) throws {
    let folder = try TemporaryFolder()
    // The second one does not care about SIGTERM.
    let command =
      "(echo $(exec sh -c 'echo $PPID') > \(folder.path)/1; exec sleep 100) & "
      + "trap '' TERM; echo $$ > \(folder.path)/2; echo x; while :; do sleep 0.05; done"
    let cancellation = ReadCancellation()
    var source: FileSource? = try FileSource(name: "exec:" + command, cancellation: cancellation)
    #expect(waitUntil { isAlive(folder.path + "/1") && isAlive(folder.path + "/2") })
    let start = MonotonicClock.seconds
    if isCancelled {
      cancellation.request()
      #expect(drain(source!).error?.code == .interrupted)
    }
    source = nil
    #expect(MonotonicClock.seconds - start < 30)
    #expect(waitUntil { !isAlive(folder.path + "/1") && !isAlive(folder.path + "/2") })
  }
}
