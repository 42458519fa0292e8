import UpsurgeRecords
import UpsurgeSQLite

extension NumberUse.Reader {
  typealias Operand = NumberUse.Operand
  typealias Unknown = NumberUse.Unknown

  /// A name, a literal, a call, or something in parentheses.
  mutating func primary() throws(Unknown) -> Operand {
    let start = index
    var value = try unplaced()
    // What stands in parentheses alone is shown without them.
    if value.range.isEmpty { value.range = try range(from: start) }
    return value
  }

  private mutating func unplaced() throws(Unknown) -> Operand {
    let token = tokens[index]
    if token.isMark("(") {
      if let query = try subquery() { return query }
      index += 1
      let values = try list()
      if values.count == 1 { return values[0] }
      var row = result(.other, values)
      row.row = values
      return row
    }
    if let number = number() { return number }
    index += 1
    switch token.kind {
    case .literal: return literal(.text)
    case .quotedName: return try name(token)
    case .mark: throw Unknown()
    case .word: break
    }
    if token.isWord("CASE") { return try choice() }
    if token.isWord("CAST") { return try conversion() }
    if token.isWord("EXISTS") { return result(.number, try skipped()) }
    if index < tokens.count, tokens[index].isMark("(") { return try call(SQLName.folded(token.text)) }
    if let field = field(named: token.text), !isQualified { return field }
    if token.isWord("NULL") { return Operand(.other) }
    if token.isWord("TRUE") || token.isWord("FALSE") { return literal(.number) }
    if ["CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"].contains(where: token.isWord) {
      return Operand(.text)
    }
    if token.isWord("X"), index < tokens.count, tokens[index].kind == .literal {
      index += 1
      return Operand(.other)
    }
    return try name(token)
  }

  private var isQualified: Bool { index < tokens.count && tokens[index].isMark(".") }

  private func literal(_ kinds: Operand.Kinds) -> Operand {
    var value = Operand(kinds)
    value.isLiteral = true
    return value
  }

  private mutating func name(_ token: SQLScanner.Token) throws(Unknown) -> Operand {
    if !isQualified, let field = field(named: token.text) { return field }
    while isQualified {
      index += 1
      _ = try next()
    }
    return Operand(.other)
  }

  /// A number with its fraction and exponent, which are tokens of their own.
  private mutating func number() -> Operand? {
    let start = index
    var end = index
    func isDigits(_ at: Int) -> Bool { at < tokens.count && tokens[at].isNumber }
    func isNext(_ at: Int) -> Bool {
      at < tokens.count && (at == start || tokens[at].range.lowerBound == tokens[at - 1].range.upperBound)
    }
    if isDigits(end) { end += 1 }
    if isNext(end), tokens[end].isMark("."), end > start || isDigits(end + 1) {
      end += 1
      if isNext(end), isDigits(end) || Self.isExponent(tokens[end].text) { end += 1 }
    }
    if end == start { return nil }
    let last = SQLName.folded(tokens[end - 1].text)
    if last.hasSuffix("e"), !last.hasPrefix("0x"), isNext(end),
      tokens[end].isMark("-") || tokens[end].isMark("+")
    {
      end += 1
      if isNext(end), isDigits(end) { end += 1 }
    }
    index = end
    return literal(.number)
  }

  /// Whether it is what `5.e3` has after its point.
  private static func isExponent(_ text: String) -> Bool {
    SQLName.folded(text).hasPrefix("e") && text.dropFirst().allSatisfy(\.isNumber)
  }

  /// The operands up to the end of the parentheses that are open.
  mutating func list() throws(Unknown) -> [Operand] {
    var values: [Operand] = []
    if takeMark([")"]) != nil { return values }
    repeat { values.append(try operand(above: 0)) } while takeMark([","]) != nil
    guard takeMark([")"]) != nil else { throw Unknown() }
    return values
  }

  /// A query in parentheses; nil where something else stands in them.
  mutating func subquery() throws(Unknown) -> Operand? {
    guard index + 1 < tokens.count, ["SELECT", "VALUES", "WITH"].contains(where: tokens[index + 1].isWord)
    else {
      return nil
    }
    return try skipped()
  }

  /// What stands in parentheses and is not looked at, with the fields that it names.
  mutating func skipped() throws(Unknown) -> Operand {
    guard index < tokens.count, tokens[index].isMark("(") else { throw Unknown() }
    var value = Operand(.other)
    var open = 0
    repeat {
      let token = try next()
      if token.isMark("(") { open += 1 }
      if token.isMark(")") { open -= 1 }
      if token.isName, let field = field(named: token.text) { value.mentioned.formUnion(field.mentioned) }
    } while open > 0
    return value
  }

  private mutating func conversion() throws(Unknown) -> Operand {
    guard takeMark(["("]) != nil else { throw Unknown() }
    let given = try operand(above: 0)
    guard takeWord("AS") else { throw Unknown() }
    var (type, open) = ("", 1)
    while open > 0 {
      let token = try next()
      if token.isMark("(") { open += 1 }
      if token.isMark(")") { open -= 1 }
      type += token.text + " "
    }
    guard Affinity(declaredType: type).isNumeric else { return result(.other, given) }
    calculate(given)
    return result(.number, given)
  }

  /// What stands after `CASE`.
  private mutating func choice() throws(Unknown) -> Operand {
    let before = tested
    defer { tested = before }
    let base = index < tokens.count && !tokens[index].isWord("WHEN") ? try operand(above: 0) : nil
    var condition = base?.mentioned ?? []
    tested.formUnion(condition)
    var value: Operand?
    func add(_ branch: Operand) {
      value = value.map { $0.or(branch, if: condition) } ?? branch.or(branch, if: condition)
    }
    while takeWord("WHEN") {
      let when = try operand(above: 0)
      if let base {
        tested = before
        compare(base, when)
      } else {
        calculate(when)
      }
      condition.formUnion(when.mentioned)
      tested = before.union(condition)
      guard takeWord("THEN") else { throw Unknown() }
      add(try operand(above: 0))
    }
    if takeWord("ELSE") { add(try operand(above: 0)) }
    guard takeWord("END"), let value else { throw Unknown() }
    return value
  }

  /// A call of a function whose name has been taken.
  private mutating func call(_ name: String) throws(Unknown) -> Operand {
    let opening = index
    index += 1
    if name == "iif" || name == "if" { return try conditional() }
    guard let given = try? list(), !given.isEmpty else {
      index = opening
      return result(Self.kinds(of: name), try skipped())
    }
    switch name {
    case "coalesce", "ifnull": return given.dropFirst().reduce(given[0].passedOn) { $0.or($1) }
    case "likely", "unlikely", "likelihood": return given[0].passedOn
    case "nullif" where given.count == 2:
      compare(given[0].bare, given[1].bare)
      return given[0].or(result(given[0].kinds, given), if: given[0].mentioned)
    case "max", "min":
      for (place, value) in given.enumerated() {
        for other in given[..<place] { compare(other.bare, value.bare) }
      }
      return given.dropFirst().reduce(given[0].passedOn) { $0.or($1) }
    default:
      if Operand.calculatingFunctions.contains(name) { calculate(given[0]) }
      return result(Self.kinds(of: name), given)
    }
  }

  private mutating func conditional() throws(Unknown) -> Operand {
    let before = tested
    defer { tested = before }
    let condition = try operand(above: 0)
    calculate(condition)
    tested.formUnion(condition.mentioned)
    guard takeMark([","]) != nil else { throw Unknown() }
    let branches = try list()
    guard let first = branches.first else { throw Unknown() }
    return branches.dropFirst().reduce(first.or(first, if: condition.mentioned)) {
      $0.or($1, if: condition.mentioned)
    }
  }

  private static func kinds(of function: String) -> Operand.Kinds {
    Operand.functionsOfNumbers.contains(function)
      ? .number : Operand.functionsOfTexts.contains(function) ? .text : .other
  }
}

extension SQLScanner.Token {
  /// Whether it begins as a number does.
  var isNumber: Bool { kind == .word && text.utf8.first.map { (0x30...0x39).contains($0) } ?? false }
}
