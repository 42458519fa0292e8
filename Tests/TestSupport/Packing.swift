import Foundation

/// Archives and streams of other codecs, made by Python's own modules.
public enum Packing {
  /// Whether there are python3 and libarchive; tests of archives need both.
  public static let isThere: Bool = {
    let libraries = ["libarchive.so.13", "libarchive.13.dylib", "/usr/lib/libarchive.2.dylib"]
    return libraries.contains { dlopen($0, RTLD_NOW) != nil } && (try? python("pass")) != nil
  }()

  /// What is said where a test is left out.
  public static let need = "needs python3 and libarchive13, which are not here"

  public struct Failure: Error {
    public var talk: String
  }

  /// Runs a program of Python.
  /// - Parameters:
  ///   - input: its standard input.
  ///   - arguments: `sys.argv[1:]`.
  /// - Returns: its standard output.
  @discardableResult
  public static func python(
    _ program: String, _ arguments: [String] = [], in folder: String = NSTemporaryDirectory(),
    input: [UInt8] = []
  ) throws -> [UInt8] {
    let scratch = Scratch()
    let (input, output) = (scratch.write(input, to: "input"), scratch.write([], to: "output"))
    let talk = scratch.write([], to: "talk")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardInput = FileHandle(forReadingAtPath: input)
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: talk)
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      throw Failure(talk: (try? String(contentsOfFile: talk, encoding: .utf8)) ?? "")
    }
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
  }

  public static func xz(_ bytes: [UInt8]) throws -> [UInt8] {
    try python(
      "import lzma,sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))", input: bytes)
  }

  public static func bzip2(_ bytes: [UInt8]) throws -> [UInt8] {
    try python("import bz2,sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read()))", input: bytes)
  }

  /// A frame of LZ4 whose blocks are stored as they are, without checksums (lz4_Frame_format.md).
  public static func lz4(_ bytes: [UInt8]) -> [UInt8] {
    // Independent blocks of at most 64 KiB; the last byte is a part of the header's hash.
    var frame: [UInt8] = [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82]
    var rest = bytes[...]
    while !rest.isEmpty {
      let block = rest.prefix(64 << 10)
      rest = rest.dropFirst(block.count)
      frame += fourBytes(UInt32(block.count) | 0x8000_0000) + block
    }
    return frame + fourBytes(0)
  }

  /// What `compress` writes (LZW with 9 bits a code), for less than 256 bytes.
  public static func compress(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count < 256, "codes would get longer")
    var out: [UInt8] = [0x1F, 0x9D, 0x90]
    var (pending, count): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      pending |= UInt32(byte) << count
      count += 9
      while count >= 8 {
        out.append(UInt8(truncatingIfNeeded: pending))
        pending >>= 8
        count -= 8
      }
    }
    return count > 0 ? out + [UInt8(truncatingIfNeeded: pending)] : out
  }

  private static func fourBytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
