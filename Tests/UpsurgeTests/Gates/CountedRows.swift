import TestSupport

/// Inputs whose loads are counted: the same bytes on every machine.
enum CountedRows {
  static let narrowCount = 60_000
  static let wideCount = 50_000

  /// Six columns, 60 bytes, an ascending integer key.
  static let narrow = narrowCSV(isChanged: false)
  /// The keys of `narrow`, every row with another quantity.
  static let narrowChanged = narrowCSV(isChanged: true)
  static let narrowNDJSON = lines(isChanged: false) { row, bytes in
    bytes += "{\"id\":".utf8
    bytes += row.id.utf8
    bytes += ",\"name\":\"".utf8
    bytes += row.name.utf8
    bytes += "\",\"category\":\"".utf8
    bytes += row.category.utf8
    bytes += "\",\"quantity\":".utf8
    bytes += row.quantity.utf8
    bytes += ",\"price\":".utf8
    bytes += row.price.utf8
    bytes += ",\"updated_at\":\"".utf8
    bytes += row.updatedAt.utf8
    bytes += "\"}\n".utf8
  }

  /// Twelve columns, 200 bytes, a text key in no order.
  static let wide: [UInt8] = {
    var random = SeededGenerator(seed: 42)
    var bytes = Array("key,a,b,c,d,e,f,g,h,i,j,k\n".utf8)
    for _ in 0..<wideCount {
      bytes += "k".utf8
      bytes += String(random.next(), radix: 16).utf8
      for column in 0..<11 {
        bytes += column % 3 == 0 ? ",".utf8 : ",some words ".utf8
        bytes += String(random.next() >> 16).utf8
      }
      bytes.append(10)
    }
    return bytes
  }()

  private struct Row {
    var id: String
    var name: String
    var category: String
    var quantity: String
    var price: String
    var updatedAt: String
  }

  private static func narrowCSV(isChanged: Bool) -> [UInt8] {
    Array("id,name,category,quantity,price,updated_at\n".utf8)
      + lines(isChanged: isChanged) { row, bytes in
        for text in [row.id, row.name, row.category, row.quantity, row.price] {
          bytes += text.utf8
          bytes.append(UInt8(ascii: ","))
        }
        bytes += row.updatedAt.utf8
        bytes.append(10)
      }
  }

  private static func lines(isChanged: Bool, _ write: (Row, inout [UInt8]) -> Void) -> [UInt8] {
    var random = SeededGenerator(seed: 42)
    var bytes: [UInt8] = []
    let categories = ["books", "garden", "kitchen", "music", "office", "sports", "toys", "travel"]
    for id in 1...narrowCount {
      let (name, category) = (random.next() % 1_000_000, random.next() % 8)
      let (quantity, cents) = (random.next() % 1_000, random.next() % 100_000)
      let day = 10 + random.next() % 19
      let row = Row(
        id: String(id), name: "item " + String(name), category: categories[Int(category)],
        quantity: String(quantity + (isChanged ? 1 : 0)),
        price: String(cents / 100) + (cents % 100 < 10 ? ".0" : ".") + String(cents % 100),
        updatedAt: "2026-03-" + String(day) + "T12:00:00Z")
      write(row, &bytes)
    }
    return bytes
  }
}
