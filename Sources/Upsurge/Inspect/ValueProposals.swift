/// What `inspect` says of columns whose values are written in a way of their own, and the options that read them.
struct ValueProposals {
  /// A sentence for each column.
  private(set) var remarks: [Wording] = []
  /// Options that read values otherwise than they stand, where there is no doubt.
  private(set) var options: [(term: Term, value: String)] = []
  /// Columns of numbers that an option would read: a type of texts would keep it from that.
  private(set) var numberColumns: [String] = []

  /// - Parameter columns: with what was found of their values.
  init(_ columns: [InferredColumn]) {
    for column in columns {
      guard case .dates(let formats)? = column.finding else { continue }
      let name = column.name.escapedForTerminal
      let choices = formats.map { format -> Wording in "\(.date, "\(column.name)=\(format)".quotedForShell)" }
      if choices.count == 1 {
        remarks.append("column \(name) holds dates: \(saying: choices[0]) reads them")
        options.append((.date, "\(column.name)=\(formats[0])"))
      } else {
        remarks.append(
          "column \(name) holds dates whose day and month cannot be told apart: \(saying: Wording(choices, separator: ", or ")) reads them"
        )
      }
    }
    addNumbers(columns)
  }

  private mutating func addNumbers(_ columns: [InferredColumn]) {
    var names: [String] = []
    var forms = ValueSurvey.forms
    for column in columns {
      guard case .numbers(let found)? = column.finding else { continue }
      names.append(column.name.escapedForTerminal)
      forms = forms.filter(found.contains)
    }
    if names.isEmpty { return }
    let list =
      "column\(names.count == 1 ? "" : "s") \(names.joined(separator: ", ")) hold\(names.count == 1 ? "s" : "") numbers"
    if let other = columns.first(where: { $0.type == .real }) {
      remarks.append(
        Wording(
          "\(list) with other marks than column \(other.name.escapedForTerminal), and no option reads both: they stay text"
        ))
      return
    }
    // A comma between three digits each may be either.
    let isDoubtful = forms.contains { $0.decimal == .comma } && forms.contains { $0.thousands == "," }
    if !forms.isEmpty {
      numberColumns = columns.filter { if case .numbers? = $0.finding { true } else { false } }.map(\.name)
    }
    guard let form = forms.first, !isDoubtful else {
      remarks.append(
        isDoubtful
          ? "\(list) whose comma may part thousands or stand before a fraction: \(.decimal, "comma"), or \(.thousands, "comma"), reads them"
          : Wording("\(list) with marks that differ, and no option reads all of them: they stay text"))
      return
    }
    let choices = Self.options(of: form)
    let shown = choices.map { option -> Wording in "\(option.term, option.value.quotedForShell)" }
    remarks.append("\(list): \(saying: Wording(shown, separator: " ")) reads them")
    options += choices
  }

  private static func options(of form: ValueSurvey.Form) -> [(term: Term, value: String)] {
    var options: [(term: Term, value: String)] = []
    if form.decimal == .comma { options.append((.decimal, "comma")) }
    switch form.thousands {
    case nil: break
    case " ": options.append((.thousands, "space"))
    case "'": options.append((.thousands, "apostrophe"))
    case "."?: options.append((.thousands, "point"))
    default: options.append((.thousands, "comma"))
    }
    return options
  }
}

extension InferredColumn {
  /// The column where what is known of numbers does not count: strings of JSON are texts, and a form that was given is known.
  var withoutNumbers: InferredColumn {
    guard case .numbers? = finding else { return self }
    var column = self
    column.finding = nil
    return column
  }
}
