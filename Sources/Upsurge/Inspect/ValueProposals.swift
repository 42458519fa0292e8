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
    let marked = columns.compactMap { column -> (name: String, forms: [ValueSurvey.Form])? in
      guard case .numbers(let forms)? = column.finding else { return nil }
      return (column.name, forms)
    }
    if marked.isEmpty { return }
    let forms = ValueSurvey.forms.filter { form in marked.allSatisfy { $0.forms.contains(form) } }
    numberColumns = marked.filter { !$0.forms.isEmpty }.map(\.name)
    // A comma between three digits each may be either.
    if Self.isDoubtful(forms) {
      remarks.append(
        "\(Self.list(marked.map(\.name))) whose comma may part thousands or stand before a fraction: \(.decimal, "comma"), or \(.thousands, "comma"), reads them"
      )
    } else if let form = forms.first {
      propose(Self.options(of: form), for: marked.map(\.name))
      if form.decimal == .comma || form.thousands == "." {
        keepPoints(columns.filter { $0.type == .real }.map(\.name))
      }
    } else {
      for column in marked { addNumbers(of: column.name, column.forms) }
    }
  }

  /// What reads a column whose marks differ from those of others.
  private mutating func addNumbers(of column: String, _ forms: [ValueSurvey.Form]) {
    guard let form = forms.first else { return }
    let own = { (option: (term: Term, value: String)) in (option.term, "\(column)=\(option.value)") }
    if Self.isDoubtful(forms) {
      remarks.append(
        "\(Self.list([column])) whose comma may part thousands or stand before a fraction: \(.decimal, "\(column)=comma".quotedForShell), or \(.thousands, "\(column)=comma".quotedForShell), reads them"
      )
    } else {
      propose(Self.options(of: form).map(own), for: [column])
    }
  }

  private mutating func propose(_ choices: [(term: Term, value: String)], for columns: [String]) {
    remarks.append("\(Self.list(columns)): \(saying: Self.shown(choices)) reads them")
    options += choices
  }

  /// Numbers with a decimal point beside others: what is said for all columns is not for theirs.
  private mutating func keepPoints(_ columns: [String]) {
    if columns.isEmpty { return }
    let choices = columns.map { (term: Term.decimal, value: "\($0)=point") }
    remarks.append("\(Self.list(columns)) with a decimal point: \(saying: Self.shown(choices)) says so")
    options += choices
  }

  private static func shown(_ choices: [(term: Term, value: String)]) -> Wording {
    Wording(
      choices.map { option -> Wording in "\(option.term, option.value.quotedForShell)" }, separator: " ")
  }

  private static func list(_ columns: [String]) -> String {
    let names = columns.map(\.escapedForTerminal).joined(separator: ", ")
    return "column\(columns.count == 1 ? "" : "s") \(names) hold\(columns.count == 1 ? "s" : "") numbers"
  }

  private static func isDoubtful(_ forms: [ValueSurvey.Form]) -> Bool {
    forms.contains { $0.decimal == .comma } && forms.contains { $0.thousands == "," }
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
