import UpsurgeRecords

/// What an expression does with numbers and with the texts of fields, as far as its grammar shows.
///
///     price*2 > 5           price is calculated with
///     price > 5             price is compared with the number 5
///     coalesce(price, 0)    may be the text of price, or a number
///
/// SQLite decides by the storage class of both sides: a text is greater than any number, or the number is compared as a text.
struct NumberUse {
  /// A text that is compared with a number.
  struct Mismatch: Equatable {
    /// The field whose text it is; nil for what a function of texts makes.
    var field: Int?
    /// That side as the SQL has it.
    var text: String
    /// The number as the SQL has it.
    var number: String
    /// Whether it is written there, with its sign, and not computed.
    var isLiteral: Bool
  }

  /// The first one that is one for each record; texts of CSV alone are known before they are read.
  var mismatch: Mismatch?
  /// Fields that are calculated with. A use that depends on a test of the same field does not count.
  var calculated: Set<Int> = []
  /// Fields that are compared with numbers; with the same exception.
  var compared: Set<Int> = []
}

extension NumberUse {
  /// What an operand may be.
  struct Operand {
    struct Kinds: OptionSet {
      let rawValue: UInt8
      static let text = Kinds(rawValue: 1)
      static let number = Kinds(rawValue: 2)
      /// Whatever a record or a function brings.
      static let other = Kinds(rawValue: 4)
    }

    var kinds: Kinds
    /// Fields of texts whose value it may be, in the order of the SQL.
    var texts: [Int] = []
    /// Fields of any kind whose value it is, whatever other conditions say.
    var plain: Set<Int> = []
    /// All fields that stand in it.
    var mentioned: Set<Int> = []
    /// Where it stands in the SQL.
    var range = 0..<0
    var isLiteral = false
    /// Whether it is a field of yes and no, as such: SQLite compares `1` with 1 as texts, which is right there.
    var isFlag = false
    /// The values of `(a, b)`.
    var row: [Operand] = []

    init(_ kinds: Kinds) { self.kinds = kinds }

    /// The value as a function returns it.
    var passedOn: Operand {
      var value = self
      (value.isFlag, value.isLiteral) = (false, false)
      return value
    }

    /// The value where SQLite compares without regard to what column it is.
    var bare: Operand {
      var value = self
      value.isFlag = false
      return value
    }

    /// One of two values, and a condition says which.
    func or(_ other: Operand, if condition: Set<Int> = []) -> Operand {
      var value = passedOn
      value.kinds.formUnion(other.kinds)
      value.texts += other.texts.filter { !texts.contains($0) }
      value.plain = plain.union(other.plain).subtracting(condition)
      value.mentioned = mentioned.union(other.mentioned).union(condition)
      return value
    }
  }
}

extension NumberUse.Operand {
  /// Functions that return numbers, or NULL.
  static let functionsOfNumbers: Set<String> = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "changes", "cos",
    "cosh",
    "degrees", "exp", "floor", "glob", "instr", "json_array_length", "json_valid", "julianday", "length",
    "like", "ln",
    "log", "log10", "log2", "mod", "octet_length", "pi", "pow", "power", "radians", "random", "round", "sign",
    "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc", "unicode", "unixepoch",
  ]
  /// Functions that take any text for a number.
  static let calculatingFunctions: Set<String> = ["abs", "round"]
  /// Functions that return texts, or NULL.
  static let functionsOfTexts: Set<String> = [
    "char", "concat", "concat_ws", "date", "datetime", "format", "hex", "json", "json_array", "json_object",
    "json_quote",
    "json_type", "lower", "ltrim", "printf", "quote", "replace", "rtrim", "soundex", "strftime", "substr",
    "substring",
    "time", "timediff", "trim", "typeof", "upper",
  ]
}
