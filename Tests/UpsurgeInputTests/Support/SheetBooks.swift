import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// Workbooks of tests, read as the text of their sheets.
struct SheetBooks {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Whether the libraries are there that read them.
  static let areRead: Bool = if Packing.isThere, case .there = InputLibraries.expat { true } else { false }
  static let need = "\(Packing.need); or libexpat1 is not here"

  /// The text of a sheet, what is said before it is read, and what was counted.
  struct Reading {
    var name: String
    var text: String
    var notes: [String]
    var remark: String
  }

  func read(_ bytes: [UInt8], sheet: String? = nil, archives: OpenArchives? = nil) throws -> Reading {
    let path = try folder.write("book", bytes)
    let archives = archives ?? OpenArchives(sheet: sheet)
    let unpacked = try SourceList.unpack(
      Source(path), asking: HTTPQuestion(), archives: archives, cancellation: nil)
    let source = try #require(unpacked?.members.first)
    let file = try FileSource(source, archives: archives)
    let delivery = drain(file)
    if let error = delivery.error { throw error }
    #expect(file.counter.count == file.byteCount && file.byteCount == source.readByteCount)
    // Read again, it is the same.
    try file.rewind()
    #expect(file.counter.count == 0)
    #expect(drain(file).bytes == delivery.bytes)
    return Reading(
      name: String(source.name.dropFirst(path.count + 1)),
      text: String(decoding: delivery.bytes, as: UTF8.self),
      notes: file.sheetNotes?.all.map { "\($0.code.rawValue) \($0.count) \($0.row)" } ?? [],
      remark: unpacked?.workbookRemark?.text.replacing(path, with: "book") ?? "")
  }

  /// Why a workbook is not read.
  func message(_ bytes: [UInt8], sheet: String? = nil, archives: OpenArchives? = nil) -> String {
    do {
      _ = try read(bytes, sheet: sheet, archives: archives)
      return "no error"
    } catch {
      return "\(error)"
    }
  }

  /// One sheet with these rows.
  static func rows(_ rows: String...) -> [SheetFiles.Sheet] { [SheetFiles.Sheet("Data", rows.joined())] }
}
