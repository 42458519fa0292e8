/// Texts as C takes a list of them.
enum CStrings {
  /// Calls `body` with pointers to copies of the texts, and a NULL after the last one.
  static func with<Result>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result) -> Result {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for text in texts {
      starts.append(bytes.count)
      bytes += text.utf8CString
    }
    return bytes.withUnsafeBufferPointer { bytes in
      var pointers: [UnsafePointer<CChar>?] = starts.map { start in bytes.baseAddress.map { $0 + start } }
      pointers.append(nil)
      return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
  }
}
