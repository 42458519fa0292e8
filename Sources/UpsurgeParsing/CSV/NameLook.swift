/// Whether the first record of a table of texts looks as the others do, so that it is a header only by its place.
///
///     ann,oslo          name,town        Name,Town
///     bob,rome          bob,rome         bob,rome
///     could be data     has a word       is written otherwise
enum NameLook {
  /// So many records below the first one are looked at.
  private static let bodyLimit = 200
  /// Shorter texts are letters that people number columns with.
  private static let leastByteCount = 3

  /// Words that name columns, in whatever case, alone or beside others: `first_name`, `Zip Code`, `createdAt`.
  private static let words: Set<String> = [
    "address", "age", "amount", "at", "author", "category", "city", "class", "code", "col", "color", "colour", "column",
    "comment", "company", "content", "count", "country", "currency", "data", "date", "day", "department", "desc",
    "description", "domain", "email", "end", "event", "field", "file", "first", "firstname", "from", "gender", "group",
    "hash", "header", "id", "index", "item", "key", "kind", "label", "language", "last", "lastname", "level", "link",
    "location", "mail", "message", "mode", "month", "name", "nr", "no", "note", "notes", "number", "order", "organization",
    "owner", "path", "phone", "place", "price", "product", "quantity", "region", "row", "sector", "sex", "size", "source",
    "start", "state", "status", "street", "surname", "symbol", "tag", "tags", "team", "text", "time", "title", "to", "town",
    "tree", "type", "unit", "url", "user", "username", "value", "version", "word", "year", "zip",
  ]

  static func areLikeValues(of table: SampleRecords) -> Bool {
    guard let first = table.records.first, !first.isBroken else { return false }
    let heads = table.texts(of: first)
    let body = table.records.dropFirst().prefix(bodyLimit).filter { $0.fields.count == heads.count && !$0.isBroken }
    guard body.count > 1, heads.allSatisfy({ $0.count >= leastByteCount && !CellLook($0).isTyped }),
      !heads.contains(where: hasWord)
    else { return false }
    return !heads.indices.contains { column in
      let values = body.map { table.text($0.fields.lowerBound + column) }.filter { !$0.isEmpty }
      return isWrittenOtherwise(heads[column], than: values)
    }
  }

  /// Whether most values of a column begin in another case than its head, or the head alone joins words by `_`.
  private static func isWrittenOtherwise(_ head: [UInt8], than values: [[UInt8]]) -> Bool {
    guard !values.isEmpty else { return false }
    let differing = values.count { isCapital($0) != isCapital(head) || head.contains(0x5F) && !$0.contains(0x5F) }
    return differing * 5 >= values.count * 4
  }

  private static func isCapital(_ text: [UInt8]) -> Bool { text.first.map { (0x41...0x5A).contains($0) } ?? false }

  /// Whether a part of the text is a word that names columns; parts end where letters do, and before a capital.
  private static func hasWord(_ text: [UInt8]) -> Bool {
    var (word, parts): ([UInt8], [[UInt8]]) = ([], [])
    for (index, byte) in text.enumerated() {
      let isLetter = (0x61...0x7A).contains(byte | 0x20)
      let isCapitalInside = (0x41...0x5A).contains(byte) && index > 0 && (0x61...0x7A).contains(text[index - 1])
      if !isLetter || isCapitalInside {
        parts.append(word)
        word = []
      }
      if isLetter { word.append(byte | 0x20) }
    }
    return (parts + [word]).contains { words.contains(String(decoding: $0, as: UTF8.self)) }
  }
}
