import UpsurgeRecords

/// What this program itself writes, on a thread of its own, as a stream; whole if the writing comes to its end.
///
/// The pipe between the two bounds the memory, however much is written.
package final class ProducedFeed: Feed {
  package let descriptor: Int32
  private let state: State

  package var expectedByteCount: UInt64? { nil }
  package var provesEnd: Bool { true }

  /// Where the bytes go.
  package struct Output {
    fileprivate let writer: FeedWriter
    fileprivate let state: State

    /// Whether nobody wants the rest, or the producer has ended.
    package var isStopped: Bool { state.isStopped }

    /// Writes all of it, waiting while the pipe is full.
    /// - Returns: false when nobody reads any more.
    package func write(_ bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { writer.write($0, isCancelled: { state.isStopped }) }
    }
  }

  /// Starts the writing.
  /// - Parameters:
  ///   - name: as it may be shown.
  ///   - interrupt: ends the producer where it waits, from another thread; may be called when it has ended.
  ///   - produce: writes everything; its error is that of the stream.
  /// - Throws: `unreadableInput`, where the system has no more descriptors; `database`, where it has no thread left.
  package init(
    name: String, interrupt: @escaping @Sendable () -> Void,
    produce: @escaping @Sendable (Output) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) {
    let pipe = try FeedPipe(for: name)
    descriptor = pipe.readEnd
    let state = State(name: name, interrupt: interrupt)
    self.state = state
    do throws(UpsurgeError) {
      _ = try WorkerThread {
        WorkerThread.blockSignals()
        var failure: UpsurgeError?
        do throws(UpsurgeError) {
          try produce(Output(writer: FeedWriter(pipe.writeEnd), state: state))
        } catch {
          failure = error
        }
        // The end is known before it is seen.
        state.end(failure)
        systemClose(pipe.writeEnd)
      }
    } catch {
      systemClose(pipe.readEnd)
      systemClose(pipe.writeEnd)
      throw error
    }
  }

  deinit {
    systemClose(descriptor)
    state.stop()
  }

  package func stop() { state.stop() }

  package func checkWhole(cancellation: ReadCancellation?) throws(UpsurgeError) {
    if let failure = state.failure { throw failure }
  }

  /// What the two threads tell each other.
  fileprivate final class State: @unchecked Sendable {
    // Sendable because every variable property is only touched while `monitor` is locked.
    private let name: String
    private let interrupt: @Sendable () -> Void
    private let monitor = Monitor()
    private var stopped = false
    private var hasEnded = false
    private var error: UpsurgeError?

    init(name: String, interrupt: @escaping @Sendable () -> Void) {
      self.name = name
      self.interrupt = interrupt
    }

    var isStopped: Bool {
      monitor.lock()
      defer { monitor.unlock() }
      return stopped || hasEnded
    }

    /// Why not all has come; asked at the end of the stream, before which the producer has ended.
    var failure: UpsurgeError? {
      monitor.lock()
      defer { monitor.unlock() }
      if stopped || !hasEnded { return .interrupted(name) }
      return error
    }

    func end(_ error: UpsurgeError?) {
      monitor.lock()
      defer { monitor.unlock() }
      hasEnded = true
      self.error = error
    }

    func stop() {
      monitor.lock()
      let wasOver = stopped || hasEnded
      stopped = true
      monitor.unlock()
      if !wasOver { interrupt() }
    }
  }
}
