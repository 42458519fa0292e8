import UpsurgeRecords

extension SQLFragment {
  /// What in an expression does more than compute with the record and its row, in words; nil where nothing does.
  package var foreignPart: String? {
    for (index, token) in tokens.enumerated() {
      let next = index + 1 < tokens.count ? tokens[index + 1] : nil
      if token.kind == .word, let word = Self.foreignWords[token.text.uppercased()] { return word }
      // `x IN other_table`, and a table that is made by a function.
      if token.isWord("IN"), next?.isMark("(") != true { return "another table" }
      guard token.isName, next?.isMark("(") == true else { continue }
      let name = SQLName.folded(token.text)
      if token.kind == .word && Self.operators.contains(name) || Self.plainFunctions.contains(name) {
        continue
      }
      return "the function \(token.text.escapedForTerminal)"
    }
    return nil
  }

  private static let foreignWords = [
    "SELECT": "a subquery", "EXISTS": "a subquery", "VALUES": "a subquery", "WITH": "a subquery",
    "RAISE": "RAISE",
    "REGEXP": "the function regexp", "MATCH": "the function match",
  ]

  /// Words before a parenthesis that call nothing.
  private static let operators: Set<String> = [
    "and", "or", "not", "in", "is", "between", "case", "when", "then", "else", "like", "glob", "escape",
    "collate",
    "isnull", "notnull", "from", "distinct",
  ]

  /// Functions that only compute. Without `randomblob` and `zeroblob`, which are good for filling memory.
  private static let plainFunctions: Set<String> = [
    "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "ifnull", "iif", "if", "instr",
    "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min", "nullif", "octet_length",
    "printf",
    "quote", "replace", "round", "rtrim", "sign", "soundex", "substr", "substring", "trim", "typeof", "unhex",
    "unicode", "unlikely", "upper", "cast", "date", "time", "datetime", "julianday", "unixepoch", "strftime",
    "timediff", "json", "json_array", "json_array_length", "json_error_position", "json_extract",
    "json_insert",
    "json_object", "json_patch", "json_pretty", "json_quote", "json_remove", "json_replace", "json_set",
    "json_type",
    "json_valid", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos",
    "cosh",
    "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin",
    "sinh",
    "sqrt", "tan", "tanh", "trunc", "uuid", "upsurge_is_synchronizing",
  ]
}
