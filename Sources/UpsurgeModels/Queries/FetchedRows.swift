import UpsurgeRecords
import UpsurgeSQLite

/// The models of a query, read as they are asked for.
public struct FetchedRows<Model: Table>: AsyncSequence, Sendable {
  public typealias Element = Model

  let database: Database
  let sql: SQLText

  public func makeAsyncIterator() -> Iterator { Iterator(database: database, sql: sql) }

  public struct Iterator: AsyncIteratorProtocol {
    /// Rows that are read at once.
    private static var pageSize: Int { 256 }

    private let database: Database
    private let sql: SQLText
    private var cursor: Cursor?
    private var page: [Model] = []
    private var index = 0
    private var isAtEnd = false

    init(database: Database, sql: SQLText) {
      self.database = database
      self.sql = sql
    }

    public mutating func next() async throws -> Model? {
      if index == page.count {
        if isAtEnd { return nil }
        // What comes after an error is not given.
        isAtEnd = true
        (page, index) = ([], 0)
        try Task.checkCancellation()
        do throws(UpsurgeError) { page = try await nextPage() } catch { throw error.ofQuery(Model.self) }
        isAtEnd = database.isInMemory || page.count < Iterator.pageSize
        if isAtEnd { cursor = nil }
        if page.isEmpty { return nil }
      }
      defer { index += 1 }
      return page[index]
    }

    private mutating func nextPage() async throws(UpsurgeError) -> [Model] {
      // Where writes go through the same connection, rows are those of one moment only if they are read at once.
      if database.isInMemory { return try await database.fetchAll(Model.self, sql: sql) }
      if cursor == nil { cursor = Cursor(try database.openReader()) }
      guard let cursor else { return [] }
      let sql = sql
      return try await cursor.thread.perform { (connection) throws(UpsurgeError) in
        try cursor.rows(sql, on: connection, limit: Iterator.pageSize)
      }
    }
  }

  /// A statement between two looks at it, on a connection of its own: what it keeps in sight is nobody else's.
  private final class Cursor: @unchecked Sendable {
    // Sendable because `reader` is only touched on its thread.

    let thread: DatabaseThread
    private var reader: RowReader?

    init(_ thread: DatabaseThread) { self.thread = thread }

    deinit {
      guard let reader else { return }
      let last = Last(reader)
      self.reader = nil
      thread.add { _ in last.reader = nil }
    }

    func rows(_ sql: SQLText, on connection: Connection, limit: Int) throws(UpsurgeError) -> [Model] {
      if reader == nil { reader = try RowReader(sql, on: connection, names: Model.columnNames) }
      guard let reader else { return [] }
      return try reader.all(limit, at: nil) { (row) throws(UpsurgeError) in try Model(from: &row) }
    }
  }

  /// A statement on its way to the thread that ends it.
  private final class Last: @unchecked Sendable {
    // Sendable because only that thread touches it.

    var reader: RowReader?

    init(_ reader: RowReader) { self.reader = reader }
  }
}
