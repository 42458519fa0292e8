import UpsurgeRecords
import UpsurgeSQLite

extension Database {
  /// Adds an SQL function of typed arguments, for every statement of this database from then on.
  ///
  ///     try await database.addFunction("slug", isDeterministic: true) { (title: String?) -> String in
  ///       (title ?? "").lowercased().split(separator: " ").joined(separator: "-")
  ///     }
  ///
  /// An argument that may be NULL is an optional. A value of another type than the argument's, and what the function throws, ends
  /// the statement with that as its message.
  /// Triggers, views and constraints of the database may call it, too: in one that comes from elsewhere, add no function that does more than
  /// compute.
  /// A result that is no number (NaN) is NULL, as of SQLite's own functions.
  /// - Parameters:
  ///   - name: of the function in SQL.
  ///   - isDeterministic: whether the same arguments always give the same result, so that it may be called less often, and in
  ///     indexes and generated columns, which then need the function in every program.
  ///   - body: what it does.
  /// - Throws: `usage` for the name of one of the engine's functions, one that SQLite does not take, and a value of several columns.
  public func addFunction<each Argument: ColumnCoding, Result: ColumnCoding>(
    _ name: String, isDeterministic: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) async throws(UpsurgeError) where repeat (each Argument).Value == each Argument, Result.Value == Result {
    let names = try Self.argumentNames(of: name, repeat (each Argument).self, result: Result.self)
    try await onEachConnection { (connection) throws(UpsurgeError) in
      try connection.addFunction(name, argumentCount: names.count, isDeterministic: isDeterministic) {
        values in
        var row = RowDecoder(values, names: names)
        return try Result.givenValue(try body(repeat try (each Argument).decode(from: &row)))
      }
    }
  }

  /// Adds an SQL aggregate function: a state for each group, which takes its rows one after the other.
  ///
  ///     try await database.addAggregate("product", from: 1.0) { (state: inout Double, value: Double?) in
  ///       state *= value ?? 1
  ///     } result: { $0 }
  ///
  /// - Parameters: as of `addFunction`.
  public func addAggregate<State: Sendable, each Argument: ColumnCoding, Result: ColumnCoding>(
    _ name: String, isDeterministic: Bool = false, from initial: State,
    step: @escaping @Sendable (inout State, repeat each Argument) throws -> Void,
    result: @escaping @Sendable (State) throws -> Result
  ) async throws(UpsurgeError) where repeat (each Argument).Value == each Argument, Result.Value == Result {
    let names = try Self.argumentNames(of: name, repeat (each Argument).self, result: Result.self)
    try await onEachConnection { (connection) throws(UpsurgeError) in
      try connection.addAggregate(name, argumentCount: names.count, isDeterministic: isDeterministic) {
        Group(
          initial,
          step: { state, values in
            var row = RowDecoder(values, names: names)
            try step(&state, repeat try (each Argument).decode(from: &row))
          },
          result: {
            try Result.givenValue(try result($0))
          })
      }
    }
  }

  /// What messages call the arguments.
  /// - Throws: `usage` where one of them, or the result, is several columns.
  private static func argumentNames<each Argument: ColumnCoding, Result: ColumnCoding>(
    of function: String, _ argument: repeat (each Argument).Type, result: Result.Type
  ) throws(UpsurgeError) -> [String] {
    var names: [String] = []
    var counts = [("the result", Result.columnCount)]
    for count in repeat (each argument).columnCount {
      names.append("argument \(names.count + 1) of \(function)")
      counts.append(("argument \(names.count)", count))
    }
    if let (name, count) = counts.first(where: { $0.1 != 1 }) {
      throw UpsurgeError(
        .usage, "\(name) of the function \(function.escapedForTerminal) is \(count) columns",
        hint: "SQL functions take and give single values: take each column as an argument")
    }
    return names
  }

  /// The rows of one group.
  private final class Group<State>: ProgramAggregate {
    private var state: State
    private let stepping: (inout State, [SQLValue]) throws -> Void
    private let resulting: (State) throws -> SQLValue

    init(
      _ state: State, step: @escaping (inout State, [SQLValue]) throws -> Void,
      result: @escaping (State) throws -> SQLValue
    ) {
      self.state = state
      stepping = step
      resulting = result
    }

    func step(_ arguments: [SQLValue]) throws { try stepping(&state, arguments) }
    func result() throws -> SQLValue { try resulting(state) }
  }
}

extension ColumnCoding {
  /// What a function gives SQL.
  /// - Throws: `badInput` where it cannot be stored.
  fileprivate static func givenValue(_ value: Value) throws(UpsurgeError) -> SQLValue {
    if let number = value as? any BinaryFloatingPoint, number.isNaN { return .null }
    return try storedValue(value)
  }
}
