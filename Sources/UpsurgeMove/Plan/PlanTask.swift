import UpsurgeRecords

/// A move that is to be planned, in either direction.
struct PlanTask {
  let source: any MoveSource
  let target: any MoveTarget
  /// Of PostgreSQL, whichever side that is.
  let schema: String
  let rules: MoveRules
  /// Is told which table is looked at.
  let look: (String) -> Void

  /// The tables that move, each after those that it refers to, and a plan that says what stays.
  /// - Parameter nameByteLimit: bytes that a name may have in the target.
  /// - Throws: `usage` for names that cannot move.
  func begin(
    _ direction: MovePlan.Direction, nameByteLimit: Int? = nil
  ) throws(UpsurgeError) -> (tables: [TableShape], plan: MovePlan) {
    let shape = try source.shape()
    let tables = TableOrder.sorted(try rules.chosen(of: shape.tables))
    var plan = MovePlan(direction: direction)
    plan.leftOut = shape.leftOut
    try MoveProblems.checkNames(tables, byteLimit: nameByteLimit)
    return (tables, plan)
  }
}

extension IndexShape {
  func title(in table: TableShape) -> String {
    "\(isUnique ? "unique " : "")index \(name) of \(table.name)"
  }
}

extension ForeignKeyShape {
  func title(in table: TableShape) -> String {
    "foreign key (\(columns.joined(separator: ", "))) of \(table.name) to \(parent)"
  }
}

extension PortableExpression {
  /// The CHECKs of a table in the words of the target, as far as it takes them; the others are left out.
  /// - Parameter trial: statements that the target takes if it takes the CHECK.
  func checks(
    of table: TableShape, for target: any MoveTarget, _ leftOut: inout [LeftOut], trial: (String) -> [String]
  ) throws(UpsurgeError) -> [String] {
    var carried: [String] = []
    for check in table.checks {
      let what = "CHECK (\(check)) of \(table.name)"
      switch result(of: check) {
      case .failure(let obstacle): leftOut.append(LeftOut(what, obstacle.reason))
      case .success(let expression):
        if let refusal = try target.refusal(of: trial(expression)) {
          leftOut.append(LeftOut(what, refusal))
        } else {
          carried.append(expression)
        }
      }
    }
    return carried
  }
}
