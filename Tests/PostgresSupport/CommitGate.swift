import Foundation

/// Holds up the transactions of loads, whatever their path: one that would bring a run beyond the records which were let through
/// waits before its COMMIT, with its rows stored. The table of runs must be there.
public struct CommitGate {
  private let server: PostgresServer
  private let url: String

  /// Installs it, closed.
  /// - Parameter url: the database, where SQL may be run.
  public init(_ server: PostgresServer, _ url: String) throws {
    (self.server, self.url) = (server, url)
    // A sequence changes at once, also for transactions that see an earlier state.
    try server.psql(
      """
      CREATE SEQUENCE gate MINVALUE 0;
      SELECT setval('gate', 0);
      CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WHILE (SELECT last_value FROM public.gate) < (NEW.progress::jsonb ->> 'read')::bigint LOOP PERFORM pg_sleep(0.01); END LOOP;
        RETURN NEW;
      END $$;
      CREATE TRIGGER gate BEFORE UPDATE OF progress ON upsurge_runs FOR EACH ROW EXECUTE FUNCTION wait_at_gate()
      """, in: url)
  }

  private init(server: PostgresServer, url: String) { (self.server, self.url) = (server, url) }

  /// The gate as a standby has it that has taken over.
  public func moved(to server: PostgresServer, _ url: String) -> CommitGate {
    CommitGate(server: server, url: url)
  }

  /// Lets so many records through, and waits until the next transaction waits.
  /// - Returns: how many are committed then.
  @discardableResult
  public func open(to count: Int) throws -> Int {
    try server.psql("SELECT setval('gate', \(count))", in: url)
    let held = """
      SELECT max((progress::jsonb ->> 'read')::bigint) FROM upsurge_runs
      WHERE EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'upsurge' AND wait_event = 'PgSleep')
      """
    var last = ""
    for _ in 0..<1_500 {
      usleep(40_000)
      // Who leaves the gate sleeps a moment longer, so it counts only when it is seen twice.
      let now = try server.psql(held, in: url)
      if !now.isEmpty, now == last, let committed = Int(now), committed > 0 || count == 0 { return committed }
      last = now
    }
    throw PostgresServer.Failure(description: "no load waits after \(count) records")
  }

  /// Lets all through.
  public func open() throws { try server.psql("SELECT setval('gate', 1000000000)", in: url) }
}
