/// What is set for one transaction, and ends with it: poolers give the next one to another session.
package struct TransactionSettings: Sendable, Equatable {
  /// Milliseconds that a lock is waited for; 0 is without bound.
  package var lockTimeout = 10_000
  /// Of sorts and hash joins; the server's own 4 MB spill to its disk with a batch of 100,000 records.
  package var workMemory = "64MB"
  /// REPEATABLE READ, where counts come from a join before the statement.
  package var needsSnapshot = false
  /// Whether joins are planned for records that come in the order of their keys. What an index finds for the next key lies near what
  /// it found for the last one, so a page costs little more than in a scan. Without that a batch whose keys lie apart has all of the
  /// table read. Statements are short, so nothing is compiled for them.
  package var plansForSortedKeys = false
  /// Whether the commit waits for the server's disk; false loses the last commits when the server loses its power, and no more.
  package var isDurable = true
  /// The table that is swept at the end, quoted: no other sweep of it goes on at the same time. Else neither would see the rows that the
  /// other one brings, and both would stay. Readers and writers are not kept waiting.
  package var sweptTable: String?
  /// Whether nobody else writes to that table meanwhile: an edit that is to be kept would be overwritten, and nobody would know.
  package var holdsOffWriters = false

  /// Whether a limit on the whole transaction is there to be set aside (17 and later).
  package var hasTransactionTimeout = false
  /// Whether the last answer says which server it is.
  package var asksForServer = false

  package init() {}

  /// When the server was started, which no other server, and no promoted standby, has in common with it.
  package static let server = "SELECT extract(epoch FROM pg_postmaster_start_time())::numeric::text"

  /// Begins it.
  package var beginSQL: String {
    """
    BEGIN ISOLATION LEVEL \(needsSnapshot ? "REPEATABLE READ" : "READ COMMITTED");
    SET LOCAL work_mem = '\(workMemory)'; SET LOCAL lock_timeout = \(lockTimeout); SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC';
    SET LOCAL intervalstyle = 'postgres'; SET LOCAL extra_float_digits = 1; SET LOCAL standard_conforming_strings = on;
    SET LOCAL bytea_output = 'hex'\(isDurable ? "" : "; SET LOCAL synchronous_commit = off")\
    \(hasTransactionTimeout ? "; SET LOCAL transaction_timeout = 0" : "")\(planning)\(lock)\
    \(asksForServer ? "; \(Self.server)" : "")
    """
  }

  private var planning: String { plansForSortedKeys ? "; SET LOCAL random_page_cost = 1.1; SET LOCAL jit = off" : "" }

  /// Taken before the transaction sees anything, so that it sees what the one before has left.
  private var lock: String {
    let mode = holdsOffWriters ? "SHARE ROW EXCLUSIVE" : "SHARE UPDATE EXCLUSIVE"
    return sweptTable.map { "; LOCK TABLE ONLY \($0) IN \(mode) MODE" } ?? ""
  }
}
