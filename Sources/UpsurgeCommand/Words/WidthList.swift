import ArgumentParser
import Upsurge

/// Reads the widths of fields: `id:6,name:20,:2,note:*`, or `6,20,10` where the header names them.
enum WidthList {
  static func parse(_ text: String) throws -> (widths: FixedWidths, names: [String]?) {
    var fields: [FixedWidths.Field] = []
    var names: [String] = []
    var start = 0
    for part in try NameList.parse(text, option: "--widths") {
      let cut = part.lastIndex(of: ":")
      let number = cut.map { part[part.index(after: $0)...] } ?? part[...]
      let width = number == "*" ? nil : Int(number)
      guard number == "*" ? cut != part.startIndex : (1...(1 << 20)).contains(width ?? 0) else {
        throw ValidationError("--widths \(part): give NAME:N, as in id:6,name:20,note:*")
      }
      if cut != part.startIndex {
        fields.append(FixedWidths.Field(start: start, width: width))
        if let cut { names.append(String(part[..<cut])) }
      }
      start += width ?? 0
    }
    guard names.isEmpty || names.count == fields.count else {
      throw ValidationError("--widths \(text): name all widths, or none")
    }
    return (FixedWidths(fields: fields), names.isEmpty ? nil : names)
  }
}
