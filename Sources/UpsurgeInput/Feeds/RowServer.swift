import UpsurgeRecords

/// Opens rows of a kind of database server as a source. A module above this one registers what it can open, so that nobody else
/// needs the server's library.
///
///     RowServers.register(["postgres", "postgresql"], PostgresRows())          once, when the program starts
///
///     let server = try RowServers.find(source)
///     let snapshot = try server.connect(to: source, cancellation: cancellation)
///     let head = try snapshot.open(source.rows)                                 columns, and what should be said
///     try snapshot.write { bytes in output.write(bytes) }                       the rows as lines of JSON
package protocol RowServer: Sendable {
  /// Connects, and begins to read one state of the database.
  /// - Parameter cancellation: ends waits for the server, on any thread and also later.
  /// - Throws: `databaseBusy` where it cannot be reached now, `unreadableInput` where it refuses, or has no such database; `usage` for a URL
  ///   that cannot be; `interrupted`.
  func connect(to source: ServerSource, cancellation: ReadCancellation) throws(UpsurgeError)
    -> any RowSnapshot
}

/// One state of a server's database, from which rows are read. Used by one thread at a time.
package protocol RowSnapshot: AnyObject {
  /// Finds out what the rows are.
  /// - Throws: `unreadableInput` where there is no such table, or no right to read it; `usage` for a query that is not one.
  func open(_ rows: DatabaseSource.Rows) throws(UpsurgeError) -> RowHead

  /// Writes all rows that were opened last, as `RowLine` has them, each with a line end.
  /// - Parameter send: takes the text in pieces, whose borders may lie anywhere; false ends it.
  /// - Throws: `badInput` where a query fails at a row, `databaseBusy` where the connection breaks; `interrupted`.
  func write(to send: ([UInt8]) -> Bool) throws(UpsurgeError)

  /// Whether more can be read in the same state.
  var isUsable: Bool { get }

  /// Is from now on ended by another one.
  func follow(_ cancellation: ReadCancellation)
}

/// What rows of a database are.
package struct RowHead: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package var name: String
    /// A type whose affinity in SQLite leaves the values as they are: `INTEGER`, `DATE`, `TEXT`.
    package var declaredType: String
    /// The type in the words of its database, where every database of the kind has it: `numeric(10,2)`, `timestamp with time zone`.
    package var sourceType: String?

    package init(name: String, declaredType: String, sourceType: String?) {
      (self.name, self.declaredType, self.sourceType) = (name, declaredType, sourceType)
    }
  }

  package var columns: [Column]
  /// What should be said of them.
  package var remarks: [Wording]

  package init(columns: [Column], remarks: [Wording] = []) {
    (self.columns, self.remarks) = (columns, remarks)
  }
}

/// The kinds of servers that this program can read from.
package enum RowServers {
  private static let known = Guarded<[String: any RowServer]>([:])

  /// - Parameter schemes: what stands before `://` in the URLs that it opens.
  package static func register(_ schemes: [String], _ server: any RowServer) {
    known.withLock { for scheme in schemes { $0[scheme] = server } }
  }

  /// - Throws: `unreadableInput` where no module has registered it.
  package static func find(_ source: ServerSource) throws(UpsurgeError) -> any RowServer {
    if let server = known.withLock({ $0[source.scheme] }) { return server }
    throw UpsurgeError(.unreadableInput, "\(source.scheme):// is not read by this program")
  }
}
