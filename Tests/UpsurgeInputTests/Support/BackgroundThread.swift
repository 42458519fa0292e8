#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that runs a body once; `join()` waits for it.
final class BackgroundThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private var thread: pthread_t

  init(_ run: @escaping @Sendable () -> Void) {
    thread = pthread_self()
    let body = Unmanaged.passRetained(Body(run)).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, body)
    precondition(status == 0, "no thread")
  }

  func join() { pthread_join(thread, nil) }
}

/// Writes in pieces of odd sizes with short rests, so that the reader sees many borders.
func dribble(_ bytes: [UInt8], to descriptor: Int32) {
  var position = 0
  var piece = 1
  while position < bytes.count {
    let count = min(piece, bytes.count - position)
    let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + position, count) }
    if written < 0 { return }
    position += written
    piece = piece % 977 * 3 + 1
    if piece % 5 == 0 { usleep(500) }
  }
}
