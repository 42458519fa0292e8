/// Wordings that outlive the process: what a database keeps of a refusal is said again in the words of who reads it.
extension Wording {
  /// As JSON: texts as they are, of terms their name and what is given to them.
  ///
  ///     ["give at least ",["memory","16MiB"]]
  package var stored: String {
    var json = JSONText()
    json.beginArray()
    for part in parts { part.write(to: &json) }
    json.endArray()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// nil where it is not such a text. A term that is not known becomes the text that the command would print.
  package init?(stored: String) {
    guard let parts = (try? JSONValue(stored))?.array else { return nil }
    self.init()
    for part in parts {
      if let text = part.text {
        self += Wording(text)
        continue
      }
      guard let words = part.array, let name = words.first?.text, words.count <= 2 else { return nil }
      let value = words.count == 2 ? words[1].text : nil
      guard let term = Term(rawValue: name) else {
        self += Wording("--" + name + (value.map { " " + $0 } ?? ""))
        continue
      }
      self += value.map { "\(term, $0)" } ?? "\(term)"
    }
  }
}

extension Wording.Part {
  fileprivate func write(to json: inout JSONText) {
    switch self {
    case .text(let text), .command(let text): json.string(text)
    case .term(let term, let value):
      json.beginArray()
      json.string(term.rawValue)
      if let value { json.string(value) }
      json.endArray()
    case .choice(let wording, _): for part in wording.parts { part.write(to: &json) }
    }
  }
}
