import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// A database of a move that is read: all of it in one state.
protocol MoveSource: AnyObject {
  /// As messages show it.
  var shown: String { get }
  /// What decides that a later run is of this database.
  var place: String { get }

  /// What it holds.
  func shape() throws(UpsurgeError) -> DatabaseShape

  /// The few rows of a SELECT, as text; nil is NULL.
  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]]

  /// Writes all rows of a SELECT as `RowLine` has them, each with a line end.
  /// - Parameter send: takes the text in pieces; false ends it.
  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError)

  /// The rows of a SELECT as a source of a load.
  func source(_ sql: String) -> Source

  /// Lets a load read in the same state.
  func share(with options: inout LoadOptions)
}

/// A database of a move that is written.
protocol MoveTarget: AnyObject {
  var shown: String { get }
  /// As a load takes it.
  var database: String { get }

  /// How a load names a table.
  func loadName(of table: String) -> String

  /// How SQL names a table.
  func quotedName(of table: String) -> String

  /// Tables, views and indexes that are there: a new one may not have their names.
  /// - Parameter tables: are left out with their indexes, which a move may have made itself before it was killed.
  func takenNames(besides tables: [String]) throws(UpsurgeError) -> [String]

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]]

  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError)

  /// How many rows a table has when all who were writing it have ended: a server goes on a moment for a client that was killed.
  func settledCount(of table: String) throws(UpsurgeError) -> UInt64

  /// Runs statements in one transaction.
  func change(_ statements: [String]) throws(UpsurgeError)

  /// Tries statements in a place that nobody sees, and takes them back.
  /// - Returns: why one was refused; nil where all would do.
  func refusal(of statements: [String]) throws(UpsurgeError) -> String?
}

extension [[String?]] {
  /// Of rows with a name and the table that it belongs to, the names of those that belong to other tables.
  func namesThatBelong(toNoneOf tables: [String]) -> [String] {
    compactMap { row in tables.contains { SQLName.isSame($0, row[1] ?? "") } ? nil : row[0] }
  }
}
