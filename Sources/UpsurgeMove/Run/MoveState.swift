import UpsurgeRecords
import UpsurgeState

/// How far a move is, in a table of the database that it moves into. Each change is one transaction with what it is about, so that
/// a move that was killed goes on where it was.
///
///     move        name              value
///     5f0c…       source            /home/anna/shop.db
///     5f0c…       rows orders       filled
///     5f0c…       step              7
struct MoveState {
  private let target: any MoveTarget
  /// What the move is called: source, tables and steps decide it.
  private let id: String
  private(set) var values: [String: String] = [:]

  /// Reads what is known of the move.
  init(_ plan: MovePlan, in target: any MoveTarget, isThere: Bool) throws(UpsurgeError) {
    self.target = target
    id = String(plan.identity, radix: 16)
    if !isThere { return }
    for row in try target.rows("SELECT name, value FROM \(place) WHERE move = \(id.quotedAsText)") {
      values[row[0] ?? ""] = row[1] ?? ""
    }
  }

  private var place: String { target.quotedName(of: MoveTables.state) }

  var isBegun: Bool { !values.isEmpty }
  var isDone: Bool { values["done"] != nil }
  /// Steps after the rows that are done.
  var stepCount: Int { values["step"].flatMap { Int($0) } ?? 0 }
  /// The process that is at work on it, on this machine.
  var livePID: Int32? { values["owner"].flatMap { RunOwner.livePID($0) } }

  func isFilled(_ table: String) -> Bool { values["rows \(table)"] != nil }

  /// Steps that the server has refused, with its words.
  var refusals: [LeftOut] {
    values.filter { $0.key.hasPrefix(Self.refusal) }.map {
      LeftOut(String($0.key.dropFirst(Self.refusal.count)), $0.value)
    }
    .sorted { $0.what < $1.what }
  }

  private static let refusal = "refused "

  /// The sources of other moves into the database.
  func otherSources() throws(UpsurgeError) -> [String] {
    try target.rows(
      "SELECT DISTINCT value FROM \(place) WHERE name = 'source' AND move <> \(id.quotedAsText) ORDER BY value"
    )
    .compactMap { $0[0] }
  }

  /// Makes the table, and notes that the move has begun.
  func beginning(source: String) -> [String] {
    [
      "CREATE TABLE IF NOT EXISTS \(place) (move text NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (move, name))",
      setting("source", source),
    ]
  }

  /// Notes something, beside statements that are done in the same transaction.
  mutating func note(_ name: String, _ value: String, beside statements: [String] = []) throws(UpsurgeError) {
    try target.change(statements + [setting(name, value)])
    values[name] = value
  }

  mutating func noteFilled(_ table: String) throws(UpsurgeError) { try note("rows \(table)", "filled") }

  /// Notes that a step is done.
  mutating func noteStep(_ count: Int, _ statements: [String]) throws(UpsurgeError) {
    try note("step", "\(count)", beside: statements)
  }

  /// Notes that a step was refused, and goes on.
  mutating func noteRefusal(_ title: String, _ reason: String, step count: Int) throws(UpsurgeError) {
    try note(Self.refusal + title, reason, beside: [setting("step", "\(count)")])
    values["step"] = "\(count)"
  }

  private func setting(_ name: String, _ value: String) -> String {
    "INSERT INTO \(place) (move, name, value) VALUES (\(id.quotedAsText), \(name.quotedAsText), \(value.quotedAsText)) "
      + "ON CONFLICT (move, name) DO UPDATE SET value = excluded.value"
  }
}
