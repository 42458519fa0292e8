import UpsurgeRecords

extension ValueFormats {
  /// How numbers are written.
  public struct Numbers: Sendable, Equatable {
    public var decimal: DecimalMark
    /// The character between groups of three digits; nil where there are no groups.
    public var thousands: String?

    public init(decimal: DecimalMark = .point, thousands: String? = nil) {
      (self.decimal, self.thousands) = (decimal, thousands)
    }

    /// The option that is to be named where one is.
    var term: Term { decimal == .point && thousands != nil ? .thousands : .decimal }

    /// The form to read by; nil where numbers are written as SQL writes them.
    var form: NumberForm? {
      decimal == .point && thousands == nil ? nil : NumberForm(decimal: decimal, thousands: thousands)
    }
  }

  /// Whether the numbers of some column are not written as SQL writes them.
  package var readsNumbers: Bool {
    Numbers(decimal: decimal, thousands: thousands).form != nil
      || numberForms.values.contains { $0.form != nil }
  }

  /// How the numbers of a column are written.
  func numbers(of column: String) -> Numbers {
    if !numberForms.isEmpty {
      let name = column.nameKey
      if let own = numberForms.first(where: { $0.key.nameKey == name }) { return own.value }
    }
    return Numbers(decimal: decimal, thousands: thousands)
  }

  /// The form in which the numbers of a column are written; nil where that is as in SQL.
  package func numberForm(of column: String) -> NumberForm? { numbers(of: column).form }
}

extension ValueFormats.Numbers {
  /// - Throws: `usage` for a mark between groups that cannot be one.
  func validate() throws(UpsurgeError) {
    guard let thousands else { return }
    let isMark = thousands.unicodeScalars.count == 1
    let isTaken = thousands.unicodeScalars.allSatisfy {
      ("0"..."9").contains($0) || ("a"..."z").contains($0) || ("A"..."Z").contains($0) || $0 == "-"
        || $0 == "+" || $0.value < 0x20
    }
    if !isMark || isTaken {
      throw UpsurgeError(
        .usage,
        "\(.thousands, thousands.escapedForTerminal.quotedForShell) is no mark between groups of digits",
        hint: "give one character, or comma, point, space or apostrophe")
    }
    if thousands == (decimal == .comma ? "," : ".") {
      throw UpsurgeError(
        .usage,
        "\(.thousands, thousands.quotedForShell) is also what stands before a fraction (\(.decimal, decimal.rawValue))",
        hint: "\(.decimal, decimal == .comma ? "point" : "comma") if it is the other way round")
    }
  }
}
