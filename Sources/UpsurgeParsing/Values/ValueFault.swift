import UpsurgeRecords

/// Why a value does not fit the format of its column.
enum ValueFault: UInt8, Equatable, Sendable {
  case none
  case dateForm, dateYear, dateMonth, dateDay, dateYearDay, dateTime, dateHalf, dateFraction, dateName, dateWeekday, dateZone
  case number, truth
  /// A value of JSON that is no text.
  case kind

  @inline(__always) var isSet: Bool {
    if case .none = self { false } else { true }
  }
}

extension ValueReader.Form {
  /// The code of a reject whose value does not fit.
  var rejectCode: Reject.Code {
    switch self {
    case .date: .badDate
    case .truth: .badTruth
    case .number, .none: .badNumber
    }
  }
}

/// What is said of a value that does not fit.
struct ValueProblem: Equatable, Sendable {
  var code: Reject.Code
  var reason: Wording
  var hint: Wording
}

extension ValueReaders {
  /// What is said of a value that a reader could not read.
  func problem(
    _ fault: ValueFault, of column: String, form: ValueReader.Form, value: UnsafeBufferPointer<UInt8>
  ) -> ValueProblem {
    let cut = value.count > 60
    let shown = String(decoding: value.prefix(60), as: UTF8.self).escapedForTerminal + (cut ? "…" : "")
    let isPadded = value.first.map(FieldBlank.isBlank) == true || value.last.map(FieldBlank.isBlank) == true
    return ValueProblem(
      code: form.rejectCode,
      reason: "column \(column.escapedForTerminal): \(reason(fault, column, form, shown))",
      hint: isPadded && formats.trim == .none
        ? "\(.trim, "blanks") leaves out the blanks around values" : hint(form, column, value))
  }

  private func reason(_ fault: ValueFault, _ column: String, _ form: ValueReader.Form, _ shown: String)
    -> String
  {
    let value = "the value \"\(shown)\""
    let format = formats.dates.first { $0.key.nameKey == column.nameKey }?.value.escapedForTerminal ?? ""
    return switch fault {
    case .dateForm: "\(value) is not written as \(format)"
    case .dateYear: "\(value) has the year 0, which no calendar has"
    case .dateMonth: "\(value) is no date as \(format): there is no such month"
    case .dateDay: "\(value) is no date as \(format): the month has no such day"
    case .dateYearDay: "\(value) is no date as \(format): the year has no such day"
    case .dateHalf: "\(value) is no time as \(format): hours with AM or PM are 1 to 12"
    case .dateFraction: "\(value) has a fraction of a second with more than 9 digits, and 9 are the limit"
    case .dateTime: "\(value) is no time as \(format): hour, minute or second is too large"
    case .dateName: "\(value) is not written as \(format): no English name of a month or day stands there"
    case .dateWeekday: "\(value) names another day of the week than its date has"
    case .dateZone: "\(value) has a time zone that is not known: only UTC, GMT and offsets are"
    case .truth: "\(value) is not one of the words for yes and no"
    case .kind: "the value is no text"
    case .number, .none: "\(value) is no number with \(numberWords(column))"
    }
  }

  private func numberWords(_ column: String) -> String {
    let numbers = formats.numbers(of: column)
    let mark = numbers.decimal == .comma ? "a decimal comma" : "a decimal point"
    guard let thousands = numbers.thousands else { return "\(mark) and no mark between thousands" }
    return "\(mark) and \"\(thousands.escapedForTerminal)\" between thousands"
  }

  private func hint(_ form: ValueReader.Form, _ column: String, _ value: UnsafeBufferPointer<UInt8>)
    -> Wording
  {
    let nullHint: Wording = "\(.null, "\(column)=TEXT".quotedForShell) if a text stands for no value"
    switch form {
    case .date:
      return
        "\(.date, "\(column)=FORMAT".quotedForShell) says how the column is written; \(saying: nullHint); \(.onError, "reject") sets such records aside"
    case .truth:
      return
        "\(.bool, "\(column)=YES/NO".quotedForShell) names the words; \(saying: nullHint); \(.onError, "reject") sets such records aside"
    case .number, .none:
      let numbers = formats.numbers(of: column)
      let mark = numbers.decimal == .comma ? "." : ","
      if numbers.thousands == nil, NumberForm(decimal: numbers.decimal, thousands: mark).takes(value) {
        let isOwn = formats.numberForms.keys.contains { $0.nameKey == column.nameKey }
        let given = isOwn ? "\(column)=\(mark)" : mark
        return
          "\(.thousands, given.quotedForShell) if groups of three digits are parted by it; \(.onError, "reject") sets such records aside"
      }
      return
        "\(saying: nullHint); \(.type, "\(column):TEXT".quotedForShell) keeps all values as text; \(.onError, "reject") sets such records aside"
    }
  }
}

/// Blanks around values.
enum FieldBlank {
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }
}
