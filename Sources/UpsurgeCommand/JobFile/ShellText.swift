/// Where in a shell's text a place stands, as far as quotes go: what refers to a variable there must be written so that
/// its value is never read as shell text.
///
///     mysql -p${env:PW}            bare             -p"$V"
///     curl -H "X-Key: ${env:K}"    double quotes    "X-Key: ${V}"
///     awk '/${env:WORD}/'          single quotes    '/'"$V"'/'
///
/// It follows quotes, `$(…)`, backquotes and comments. Where it is mistaken, a value may be cut into words, but it is
/// still a value: a shell does not read again what a variable stands for.
struct ShellText {
  private enum Place: Equatable { case bare, doubleQuotes, singleQuotes, backquotes, parenthesis }

  private var places: [Place] = [.bare]
  private var isEscaped = false
  private var isComment = false
  /// Whether a word may begin here, and with it a comment.
  private var isWordStart = true
  /// The last bytes were so many `<` outside of quotes; two of them begin a here-document.
  private var lessCount = 0
  private var last: UInt8 = 0
  private var announcesDocument = false
  /// Whether the lines of a here-document may have begun, in which quotes mean nothing.
  private(set) var isInDocument = false

  /// Whether the next character follows a backslash.
  var followsBackslash: Bool { isEscaped }

  /// What refers to a variable at the end of the text that was read.
  func reference(to variable: String) -> String {
    switch places[places.count - 1] {
    case .doubleQuotes: "${\(variable)}"
    case .singleQuotes: "'\"${\(variable)}\"'"
    case .bare, .backquotes, .parenthesis: "\"${\(variable)}\""
    }
  }

  /// Goes on after more of the text.
  mutating func read(_ text: some StringProtocol) {
    for byte in text.utf8 {
      read(byte)
      last = byte
    }
  }

  /// A reference is a part of a word.
  mutating func passReference() { (isWordStart, lessCount, last) = (false, 0, 0) }

  private mutating func read(_ byte: UInt8) {
    let place = places[places.count - 1]
    if byte == UInt8(ascii: "\n"), announcesDocument { isInDocument = true }
    if isEscaped {
      isEscaped = false
      isWordStart = false
      return
    }
    if isComment {
      if byte == UInt8(ascii: "\n") { (isComment, isWordStart) = (false, true) }
      return
    }
    if place == .singleQuotes {
      if byte == UInt8(ascii: "'") { places.removeLast() }
      return
    }
    switch byte {
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "`"): toggle(.backquotes)
    case UInt8(ascii: "\""): toggle(.doubleQuotes)
    case UInt8(ascii: "(") where last == UInt8(ascii: "$") || place != .doubleQuotes:
      places.append(.parenthesis)
    case UInt8(ascii: ")") where place == .parenthesis: places.removeLast()
    case UInt8(ascii: "'") where place != .doubleQuotes: places.append(.singleQuotes)
    case UInt8(ascii: "#") where place != .doubleQuotes && isWordStart: isComment = true
    default: break
    }
    lessCount = byte == UInt8(ascii: "<") && place != .doubleQuotes ? lessCount + 1 : 0
    if lessCount == 2 { announcesDocument = true }
    isWordStart = place != .doubleQuotes && " \t\n;&|()<>`".utf8.contains(byte)
  }

  private mutating func toggle(_ place: Place) {
    if places[places.count - 1] == place { places.removeLast() } else { places.append(place) }
  }
}
