import Foundation
import UpsurgeModels

/// A row of the narrow table.
@Table("narrow") struct Narrow {
  @Column(primaryKey: true) var id: Int64
  var name: String
  var category: String
  var quantity: Int64
  var price: Double
  @Column("updated_at") var updatedAt: String

  /// The rows of a CSV file as `generate narrow csv` writes it, which has no quotes.
  static func read(_ path: String) throws -> [Narrow] {
    let file = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    return file.withUnsafeBytes { bytes in
      var rows: [Narrow] = []
      for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst() {
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
          String(decoding: $0, as: UTF8.self)
        }
        guard fields.count == 6, let id = Int64(fields[0]), let quantity = Int64(fields[3]),
          let price = Double(fields[4])
        else {
          FileHandle.standardError.write(Data("not a row: \(String(decoding: line, as: UTF8.self))\n".utf8))
          exit(65)
        }
        rows.append(
          Narrow(
            id: id, name: fields[1], category: fields[2], quantity: quantity, price: price,
            updatedAt: fields[5]))
      }
      return rows
    }
  }
}

/// So many rows, which need no memory: their texts are literals.
struct LiteralRows: Sequence, IteratorProtocol {
  let count: Int64
  private var number = Int64(0)

  init(count: Int64) { self.count = count }

  mutating func next() -> Narrow? {
    if number == count { return nil }
    defer { number += 1 }
    return Narrow(
      id: number, name: number % 2 == 0 ? "a name of more than fifteen bytes" : "short", category: "category",
      quantity: number % 100, price: Double(number) / 8, updatedAt: "2026-01-01T00:00:00Z")
  }
}
