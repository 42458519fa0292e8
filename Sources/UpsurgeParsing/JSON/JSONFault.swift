import CScan
import UpsurgeRecords

/// What is wrong with a record or a document, and where.
struct JSONFault: @unchecked Sendable {
  // Sendable because its pointer is only followed during the call that set it.

  enum Kind: Equatable {
    /// None of the record: reading was cancelled.
    case cancelled
    /// One of the C kernels' codes.
    case kernel(Int)
    case duplicateKey
    /// Two different keys that mean one column.
    case columnCollision
    case wouldChange
    /// A key that is not written as its number is, and what helps.
    case keyChanges(hint: Wording)
    /// A value for a BLOB column that cannot be decoded: why, as a sentence.
    case badBlob(Wording)
    /// A value that does not fit the format of its column. Kept apart, so that the check of each record stays cheap.
    indirect case unfit(ValueProblem)
    case unnameableKey
    /// `NaN` or an infinity where a value was expected.
    case nonFinite(String)
    case notAnObject(String)
    /// A key that needs a column where the table can have no more.
    case tooManyColumns(limit: Int)
    /// A key whose name is too long for a column, beside those of the others.
    case nameTooLong(byteCount: Int)
    /// More keys than can be told apart while objects are flattened.
    case tooManyKeys
    case ragged(found: Int, expected: Int)
  }

  var kind: Kind
  /// The byte at which it was noticed.
  var at: UnsafePointer<UInt8>
  var column: String?

  /// Whether the record goes on for sure, so that its end can be found.
  var isSoft: Bool {
    if case .kernel(let code) = kind { return code == UPSURGE_JSON_LONE_SURROGATE }
    return kind != .tooManyKeys && kind != .cancelled
  }

  /// Whether it is a fault of the value only, which a second value for the column repairs.
  var isOfValue: Bool {
    if case .unfit = kind { true } else { code == .wouldChange || code == .badBlob }
  }

  var code: Reject.Code {
    switch kind {
    case .duplicateKey, .columnCollision: .duplicateKey
    case .wouldChange, .keyChanges: .wouldChange
    case .badBlob: .badBlob
    case .unfit(let problem): problem.code
    case .notAnObject: .notAnObject
    case .ragged: .ragged
    case .tooManyColumns, .nameTooLong, .tooManyKeys: .tooManyColumns
    case .unnameableKey, .nonFinite, .cancelled: .jsonSyntax
    case .kernel(UPSURGE_JSON_NOT_UTF8): .invalidUTF8
    case .kernel(UPSURGE_JSON_TOO_DEEP): .tooDeep
    case .kernel(UPSURGE_JSON_LONE_SURROGATE): .loneSurrogate
    case .kernel: .jsonSyntax
    }
  }

  /// One sentence. `end` bounds the bytes that may be shown; `unit` is what they belong to.
  func reason(end: UnsafePointer<UInt8>, unit: String, offset: Int) -> Wording {
    let place = "at byte \(offset) of the \(unit)"
    switch kind {
    case .cancelled: return "reading was cancelled \(place)"
    case .kernel(let code): return "\(JSONFault.sentence(code)), \(found(end)) \(place)"
    case .duplicateKey: return "a key stands twice in one object, the second time \(place)"
    case .columnCollision: return "two different keys mean one column, the second one \(place)"
    case .wouldChange: return "the column's type would change the spelling of the value \(place)"
    case .keyChanges:
      return
        "the key column \(column ?? "") holds numbers, and the key \(place) is not written as its number is"
    case .badBlob(let reason): return "\(reason) (\(place))"
    case .unfit(let problem): return problem.reason
    case .unnameableKey: return "the key \(place) holds U+0000, which no column name can"
    case .nonFinite(let word): return "\(word) is no JSON value, found \(place)"
    case .notAnObject(let found): return Wording(found)
    case .tooManyColumns(let limit):
      return
        "the record needs a column more than the \(limit) that SQLite takes in a table, for the value \(place)"
    case .nameTooLong(let byteCount):
      return
        "a key of \(byteCount) bytes needs a column, and the names of all columns may have "
        + "\(JSONParser.nameByteLimit), for the value \(place)"
    case .tooManyKeys:
      return "the record has more different keys than \(.flatten) can tell apart, the last one \(place)"
    case .ragged(let found, let expected):
      return "the array has \(found) value\(found == 1 ? "" : "s"), the header \(expected)"
    }
  }

  /// The byte that was met, as people would name it.
  func found(_ end: UnsafePointer<UInt8>) -> String {
    if at >= end { return "found the end" }
    switch at.pointee {
    case 0x0A: return "found a line end"
    case 0x20: return "found a space"
    case 0x21...0x7E: return "found `\(Character(Unicode.Scalar(at.pointee)))`"
    default:
      let digits = String(at.pointee, radix: 16, uppercase: true)
      return "found byte 0x\(digits.utf8.count == 1 ? "0" : "")\(digits)"
    }
  }

  /// What was expected.
  static func sentence(_ code: Int) -> String {
    switch code {
    case UPSURGE_JSON_CUT: "the value is not complete"
    case UPSURGE_JSON_BAD_LITERAL: "expected true, false or null"
    case UPSURGE_JSON_BAD_NUMBER: "expected a digit of a JSON number (no leading zeros)"
    case UPSURGE_JSON_CONTROL: "a control character in a string must be escaped"
    case UPSURGE_JSON_BAD_ESCAPE: "expected one of \" \\ / b f n r t u after a backslash"
    case UPSURGE_JSON_BAD_HEX: "expected four hexadecimal digits after \\u"
    case UPSURGE_JSON_NOT_UTF8: "the bytes of a string are not UTF-8"
    case UPSURGE_JSON_TOO_DEEP: "brackets are nested deeper than the limit of \(JSONDialect.depthLimit)"
    case UPSURGE_JSON_NO_KEY: "expected a key in double quotes"
    case UPSURGE_JSON_NO_COLON: "expected a colon after a key"
    case UPSURGE_JSON_NO_COMMA_IN_OBJECT: "expected a comma or } after a value"
    case UPSURGE_JSON_NO_COMMA_IN_ARRAY: "expected a comma or ] after a value"
    case UPSURGE_JSON_TRAILING: "expected nothing more after the value"
    case UPSURGE_JSON_LONE_SURROGATE: "a \\u escape is half of a surrogate pair, which is no text"
    default: "expected a value"
    }
  }

  static let columnsHint: Wording = "\(.columns, "A,B") reads only the keys it names"

  static let blobHint: Wording =
    "\(.blob, "base64"), hex or file says what text in BLOB columns is; without it text stays text"

  /// What to do about it, where an option helps.
  var hint: Wording? {
    switch kind {
    case .wouldChange:
      column.map {
        "\(.type, "\($0):TEXT".quotedForShell) keeps the spelling; \(.infer, "full") looks at all values first"
      }
    case .keyChanges(let hint): hint
    case .badBlob: Self.blobHint
    case .unfit(let problem): problem.hint
    case .tooManyColumns, .nameTooLong: Self.columnsHint
    case .tooManyKeys: "without \(.flatten) the record can be read"
    case .nonFinite: "\(.jsonNaN, "null") stores NULL for it"
    case .duplicateKey, .columnCollision: "\(.duplicateKeys, "last-wins") takes the last value"
    default: nil
    }
  }
}

extension WarningLog.Code {
  /// Two different keys of one JSON record mean one column: they differ only in the case of ASCII letters, in
  /// their escapes, or by what `--flatten` makes of them. The last one won.
  public static let columnCollision = WarningLog.Code(rawValue: "column-collision")
}
