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
  ///   - interpreter: another one than that of the system.
  /// - Returns: its standard output.
  @discardableResult
  public static func python(
    _ program: String, _ arguments: [String] = [], in folder: String = NSTemporaryDirectory(),
    input: [UInt8] = [], interpreter: String = "python3"
  ) throws -> [UInt8] {
    try run([interpreter, "-c", program] + arguments, in: folder, input: input)
  }

  /// Runs a program.
  /// - Parameter words: its name, and its arguments.
  /// - Returns: its standard output.
  @discardableResult
  public static func run(
    _ words: [String], in folder: String = NSTemporaryDirectory(), input: [UInt8] = []
  ) throws -> [UInt8] {
    let scratch = Scratch()
    let (input, output) = (scratch.write(input, to: "input"), scratch.write([], to: "output"))
    let talk = scratch.write([], to: "talk")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
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

  /// How files are put together.
  public enum Form: String, CaseIterable, Sendable {
    case zip
    /// With sizes behind the content, as a program writes it that cannot seek, and the fields of large files.
    case zipStream = "zip stream"
    case tar
    case tarGzip = "tar.gz"
    case tarXZ = "tar.xz"
    case tarBzip2 = "tar.bz2"
    case tarZstd = "tar.zst"
    case tarLZ4 = "tar.lz4"
  }

  /// An archive with these members, in this order.
  public static func archive(_ form: Form, _ members: [(name: String, bytes: [UInt8])]) throws -> [UInt8] {
    try archive(form, members.map { (Array($0.name.utf8), $0.bytes) })
  }

  /// An archive whose names may be any bytes; those of a zip archive are UTF-8.
  public static func archive(_ form: Form, _ members: [(name: [UInt8], bytes: [UInt8])]) throws -> [UInt8] {
    let sizes = members.flatMap {
      [$0.name.map { String($0, radix: 16).leftPadded }.joined(), "\($0.bytes.count)"]
    }
    let bytes = try python(program, [form.rawValue] + sizes, input: members.flatMap(\.bytes))
    switch form {
    case .tarZstd: return Compressing.zstd(bytes)
    case .tarLZ4: return lz4(bytes)
    default: return bytes
    }
  }

  private static let program = """
    import io, sys, tarfile, warnings, zipfile
    warnings.simplefilter("ignore")
    form, words = sys.argv[1], sys.argv[2:]
    members = [(bytes.fromhex(n), sys.stdin.buffer.read(int(s))) for n, s in zip(words[::2], words[1::2])]
    class Pipe:
        def write(self, data): return sys.stdout.buffer.write(data)
        def flush(self): pass
    if form.startswith("zip"):
        out = Pipe() if form == "zip stream" else io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                with archive.open(name.decode(), "w", force_zip64=form == "zip stream") as file: file.write(data)
        if form == "zip": sys.stdout.buffer.write(out.getvalue())
    else:
        out = io.BytesIO()
        mode = {"tar.gz": "w:gz", "tar.xz": "w:xz", "tar.bz2": "w:bz2"}.get(form, "w")
        with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT) as archive:
            for name, data in members:
                info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
                if data.startswith(b"-> "): info.type, info.linkname = tarfile.SYMTYPE, data[3:].decode()
                else: info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        sys.stdout.buffer.write(out.getvalue())
    """

  private static func fourBytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

extension String {
  fileprivate var leftPadded: String { utf8.count == 1 ? "0" + self : self }
}
