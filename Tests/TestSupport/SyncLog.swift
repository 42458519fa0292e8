import FaultVFS

/// Which files this process brings to the disk, in order; one log at a time. Linux only.
public enum SyncLog {
  /// The files under a folder that were synced while the body ran, by their paths behind the folder's; "" is the folder.
  public static func files(under folder: String, _ body: () throws -> Void) rethrows -> [String] {
    sync_log_begin(folder)
    var text = [CChar](repeating: 0, count: 64 << 10)
    do { try body() } catch {
      _ = sync_log_end(&text, 0)
      throw error
    }
    let count = sync_log_end(&text, text.count)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}
