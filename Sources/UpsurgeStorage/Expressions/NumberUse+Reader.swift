import UpsurgeRecords
import UpsurgeSQLite

extension NumberUse {
  /// What the records' fields are.
  struct Fields {
    /// By folded names.
    let places: [String: Int]
    /// Whether each value is a text.
    let isText: Bool
    /// Fields of texts that are 1 and 0 alone.
    let flags: Set<Int>
  }

  /// Looks at an expression that SQLite has taken.
  /// - Parameter isCondition: whether it is to be true.
  init(of sql: String, _ fields: Fields, isCondition: Bool) {
    var reader = Reader(sql, fields)
    // What is not understood is left to SQLite.
    guard let whole = try? reader.operand(above: 0), reader.isAtEnd else { return }
    if isCondition { reader.calculate(whole) }
    self = reader.use
  }

  /// What no reader of expressions understands.
  struct Unknown: Error {}

  /// Goes through an expression once, by the precedence of its operators.
  struct Reader {
    var use = NumberUse()
    var tokens: [SQLScanner.Token]
    var index = 0
    /// Fields that a condition has tested on which the evaluation depends.
    var tested: Set<Int> = []
    private var depth = 0
    private let bytes: [UInt8]
    private let fields: Fields

    /// SQLite has its own limit for expressions; parentheses do not count there.
    private static let deepest = 60

    init(_ sql: String, _ fields: Fields) {
      (bytes, self.fields) = (Array(sql.utf8), fields)
      tokens = SQLScanner.tokens(of: sql)
    }

    var isAtEnd: Bool { index == tokens.count }

    func text(of operand: Operand) -> String { String(decoding: bytes[operand.range], as: UTF8.self) }

    // MARK: - Operators

    /// An operand, and all operators after it that bind more than this.
    mutating func operand(above least: Int) throws(Unknown) -> Operand {
      depth += 1
      defer { depth -= 1 }
      if depth > Self.deepest { throw Unknown() }
      let start = index
      var left = try prefixed()
      while let found = self.operator(), found.binding > least {
        index += found.tokenCount
        left = try apply(found, to: left)
        left.range = try range(from: start)
      }
      return left
    }

    func range(from start: Int) throws(Unknown) -> Range<Int> {
      guard start < index else { throw Unknown() }
      return tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound
    }

    private mutating func prefixed() throws(Unknown) -> Operand {
      guard index < tokens.count else { throw Unknown() }
      let start = index
      var value: Operand
      if takeWord("NOT") {
        value = try operand(above: Operator.not)
        calculate(value)
        value = result(.number, value)
      } else if tokens[index].kind == .mark, let sign = takeMark(["-", "+", "~"]) {
        value = try operand(above: Operator.sign)
        if sign == "+" {
          (value.isFlag, value.isLiteral) = (false, value.isLiteral && value.kinds == .number)
        } else {
          calculate(value)
          let isNumber = sign == "-" && value.isLiteral && value.kinds == .number
          value = result(.number, value)
          value.isLiteral = isNumber
        }
      } else {
        return try primary()
      }
      value.range = try range(from: start)
      return value
    }

    private mutating func apply(_ found: Operator, to left: Operand) throws(Unknown) -> Operand {
      switch found.kind {
      case .or, .and:
        calculate(left)
        let right = try operand(above: found.binding, after: left.mentioned)
        calculate(right)
        return result(.number, left, right)
      case .compare:
        let right = try operand(above: found.binding)
        compare(left, right)
        return result(.number, left, right)
      case .is: return try identity(left)
      case .isNull: return result(.number, left)
      case .between:
        let low = try operand(above: Operator.equality)
        guard takeWord("AND") else { throw Unknown() }
        let high = try operand(above: Operator.equality)
        compare(left, low)
        compare(left, high)
        return result(.number, left, low, high)
      case .in: return try membership(left)
      case .like:
        var all = [left, try operand(above: found.binding)]
        if takeWord("ESCAPE") { all.append(try operand(above: found.binding)) }
        return result(.number, all)
      case .calculate:
        let right = try operand(above: found.binding)
        calculate(left)
        calculate(right)
        return result(.number, left, right)
      case .concatenate: return result(.text, left, try operand(above: found.binding))
      case .extract: return result(.other, left, try operand(above: found.binding))
      case .collate:
        _ = try next()
        return left
      }
    }

    /// An operand whose evaluation depends on what was found of these fields.
    mutating func operand(above least: Int, after condition: Set<Int>) throws(Unknown) -> Operand {
      let before = tested
      defer { tested = before }
      tested.formUnion(condition)
      return try operand(above: least)
    }

    /// What stands after `IS` or `IS NOT`.
    private mutating func identity(_ left: Operand) throws(Unknown) -> Operand {
      if takeWord("DISTINCT"), !takeWord("FROM") { throw Unknown() }
      let word = index < tokens.count ? tokens[index] : nil
      let right = try operand(above: Operator.equality)
      if let word, word.isWord("TRUE") || word.isWord("FALSE"), right.isLiteral {
        calculate(left)
      } else {
        compare(left, right)
      }
      return result(.number, left, right)
    }

    /// What stands after `IN`.
    private mutating func membership(_ left: Operand) throws(Unknown) -> Operand {
      guard index < tokens.count else { throw Unknown() }
      if !tokens[index].isMark("(") {
        // A table-valued function, as there are no tables.
        _ = try next()
        return result(
          .number, left, index < tokens.count && tokens[index].isMark("(") ? try skipped() : Operand(.other))
      }
      if let query = try subquery() { return result(.number, left, query) }
      index += 1
      let values = try list()
      for value in values { compare(left, value) }
      return result(.number, [left] + values)
    }

    // MARK: - What is found

    /// Notes that an operand is taken for a number.
    mutating func calculate(_ operand: Operand) {
      use.calculated.formUnion(operand.plain.subtracting(tested))
    }

    /// Notes that operands are compared.
    mutating func compare(_ left: Operand, _ right: Operand) {
      if !left.row.isEmpty || !right.row.isEmpty {
        for (one, other) in zip(left.row, right.row) { compare(one, other) }
        return
      }
      for (text, number) in [(left, right), (right, left)] where number.kinds.contains(.number) {
        if number.kinds == .number { use.compared.formUnion(text.plain.subtracting(tested)) }
        if text.isFlag && isOneOrZero(number) || use.mismatch != nil { continue }
        let isTextOfFunction = text.kinds == .text && !text.isLiteral && number.kinds == .number
        guard text.texts.first != nil || isTextOfFunction else { continue }
        use.mismatch = Mismatch(
          field: text.texts.first, text: self.text(of: text), number: self.text(of: number),
          isLiteral: number.isLiteral)
      }
    }

    /// Whether a number is one that a field of yes and no may be.
    private func isOneOrZero(_ number: Operand) -> Bool {
      number.isLiteral && ["0", "1", "true", "false"].contains(SQLName.folded(text(of: number)))
    }

    /// What an operator or a function makes of operands.
    func result(_ kinds: Operand.Kinds, _ operands: Operand...) -> Operand { result(kinds, operands) }

    func result(_ kinds: Operand.Kinds, _ operands: [Operand]) -> Operand {
      var value = Operand(kinds)
      for operand in operands { value.mentioned.formUnion(operand.mentioned) }
      return value
    }

    /// The field of that name as an operand.
    func field(named name: String) -> Operand? {
      guard let place = fields.places[SQLName.folded(name)] else { return nil }
      var value = Operand(fields.isText ? .text : .other)
      if fields.isText { value.texts = [place] }
      (value.plain, value.mentioned) = ([place], [place])
      value.isFlag = fields.flags.contains(place)
      return value
    }

    // MARK: - Tokens

    mutating func next() throws(Unknown) -> SQLScanner.Token {
      guard index < tokens.count else { throw Unknown() }
      defer { index += 1 }
      return tokens[index]
    }

    mutating func takeWord(_ word: String) -> Bool {
      guard index < tokens.count, tokens[index].isWord(word) else { return false }
      index += 1
      return true
    }

    mutating func takeMark(_ marks: [String]) -> String? {
      guard index < tokens.count, tokens[index].kind == .mark, marks.contains(tokens[index].text) else {
        return nil
      }
      index += 1
      return tokens[index - 1].text
    }
  }
}
