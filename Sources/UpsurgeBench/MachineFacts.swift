import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine that a benchmark ran on.
package struct MachineFacts: Sendable {
  package var system = ""
  package var processor = ""
  /// Cores that are online.
  package var coreCount = 0
  package var memoryByteCount: UInt64 = 0
  /// Kind of the file system of the scratch folder: `ext4`, `tmpfs`.
  package var fileSystem = ""
  /// Programs that wanted to run, on average of the last minute, when the benchmark began.
  package var load = 0.0

  /// Asks the system.
  package init(folder: String) {
    var name = utsname()
    if uname(&name) == 0 {
      system = [Self.text(&name.sysname), Self.text(&name.release), Self.text(&name.machine)]
        .joined(separator: " ")
    }
    coreCount = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    memoryByteCount = UInt64(max(pages, 0)) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 0))
    var loads = [0.0, 0.0, 0.0]
    if getloadavg(&loads, 3) > 0 { load = loads[0] }
    processor = Self.processorName() ?? "unknown processor"
    fileSystem = Self.fileSystemName(of: folder) ?? "unknown file system"
  }

  /// Whether what is written never reaches a disk.
  package var isInMemory: Bool { fileSystem == "tmpfs" || fileSystem == "ramfs" }
  /// Whether other programs were at work.
  package var isBusy: Bool { load > 0.5 * Double(coreCount) }

  /// All of it in a line.
  package var words: String {
    "\(processor), \(coreCount) \(coreCount == 1 ? "core" : "cores"), "
      + "\(Words.bytes(Double(memoryByteCount))) of memory, \(fileSystem), \(system)"
  }

  /// All of it by name, and the version of this program.
  package var facts: [(String, String)] {
    [
      ("processor", processor), ("cores", "\(coreCount)"), ("memory", Words.bytes(Double(memoryByteCount))),
      ("file system of the scratch folder", fileSystem), ("system", system),
      ("load when it began", BenchReport.decimal(load, digits: 2)), ("upsurge", upsurgeVersion),
    ]
  }

  private static func text<Tuple>(_ tuple: inout Tuple) -> String {
    withUnsafeBytes(of: &tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  #if os(Linux)
    private static func lines(of path: String) -> [Substring] {
      guard let file = fopen(path, "r") else { return [] }
      defer { fclose(file) }
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { break }
        text += buffer[..<count]
      }
      return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    private static func processorName() -> String? {
      for line in lines(of: "/proc/cpuinfo") where line.hasPrefix("model name") {
        guard let colon = line.firstIndex(of: ":") else { continue }
        return line[colon...].dropFirst().split(separator: " ").joined(separator: " ")
      }
      return nil
    }

    /// The type in the line of the folder's device, the last that was mounted
    /// (https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html).
    private static func fileSystemName(of folder: String) -> String? {
      var status = stat()
      guard stat(folder, &status) == 0 else { return nil }
      let device = UInt64(status.st_dev)
      let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
      let minor = device & 0xFF | (device >> 12) & ~0xFF
      var found: String?
      for line in lines(of: "/proc/self/mountinfo") {
        let words = line.split(separator: " ")
        guard words.count > 6, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-"),
          dash + 1 < words.count
        else { continue }
        found = String(words[dash + 1])
      }
      return found
    }
  #else
    private static func processorName() -> String? {
      var size = 0
      sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0)
      var bytes = [UInt8](repeating: 0, count: max(size, 1))
      guard sysctlbyname("machdep.cpu.brand_string", &bytes, &size, nil, 0) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func fileSystemName(of folder: String) -> String? {
      var status = statfs()
      return statfs(folder, &status) == 0 ? text(&status.f_fstypename) : nil
    }
  #endif
}
