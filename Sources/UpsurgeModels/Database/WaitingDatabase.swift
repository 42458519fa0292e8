import UpsurgeRecords

/// The databases that wait for a task: for rows of its, or for it to look at what became of them. What else the task asks of one
/// would never be done.
enum WaitingDatabase {
  /// The calls whose rows the task is giving. A task that was made meanwhile inherits them, and may live longer than they do.
  @TaskLocal private static var calls: Set<Int> = []

  /// The databases that wait for rows, by call.
  private static let forRows = Guarded<(databases: [Int: ObjectIdentifier], count: Int)>(([:], 0))

  /// Databases that wait for a task to look at rows, by loop.
  private static let forLoops = Guarded<[ObjectIdentifier: Loop]>([:])

  private struct Loop {
    var database: ObjectIdentifier
    var task: Int?
  }

  /// Gives rows to a database.
  /// - Parameter database: what it is known by, as `BulkTarget.identity`.
  static func giving<Result>(
    to database: ObjectIdentifier, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let call = forRows.withLock { waiting in
      waiting.count += 1
      waiting.databases[waiting.count] = database
      return waiting.count
    }
    defer { forRows.withLock { $0.databases[call] = nil } }
    return try await $calls.withValue(calls.union([call])) { try await body() }
  }

  /// Notes that a database waits for the calling task to look at rows.
  /// - Parameter loop: whatever the task looks at them by.
  static func beginLooking(_ loop: ObjectIdentifier, at database: ObjectIdentifier) {
    forLoops.withLock { $0[loop] = Loop(database: database, task: currentTask) }
  }

  static func endLooking(_ loop: ObjectIdentifier) { forLoops.withLock { $0[loop] = nil } }

  /// - Throws: `usage` when the database waits for the calling task.
  static func check(_ database: ObjectIdentifier) throws(UpsurgeError) {
    let calls = calls
    if !calls.isEmpty && forRows.withLock({ waiting in calls.contains { waiting.databases[$0] == database } })
    {
      throw UpsurgeError(
        .usage, "the rows of a call use the database that stores them, which waits for them",
        hint: "gather the rows first, or use another Database")
    }
    let task = currentTask
    if task != nil && forLoops.withLock({ $0.values.contains { $0.database == database && $0.task == task } })
    {
      throw UpsurgeError(
        .usage, "the body of a returning loop uses the database that stores its rows, which waits for it",
        hint: "gather what is needed, and use the database after the loop")
    }
  }

  /// What distinguishes a task from the others that there are.
  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
