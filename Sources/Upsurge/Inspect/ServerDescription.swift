/// What a database of a server holds, as far as loading into it or from it depends on that: what `upsurge inspect postgres://…`
/// shows. Columns, keys, indexes and foreign keys are those of `DatabaseDescription`.
package struct ServerDescription: Sendable {
  /// The URL as it may be shown.
  package var name: String
  /// `PostgreSQL 15.20`.
  package var server: String
  package var database: String
  package var byteCount: UInt64
  package var encoding: String
  /// By schema and name; views too.
  package var tables: [Table] = []

  package struct Table: Sendable {
    package var schema: String
    package var name: String
    /// The name by which a source finds it: with its schema where that is needed.
    package var sourceName: String
    /// `table`, `partitioned table`, `foreign table`, `view`, `materialized view`.
    package var kind: String
    /// Rows as the last ANALYZE has counted them; nil before the first.
    package var rowEstimate: UInt64?
    package var isUnlogged = false
    package var columns: [Column] = []
    package var keys: [DatabaseDescription.Key] = []
    package var indexes: [DatabaseDescription.Index] = []
    package var foreignKeys: [DatabaseDescription.ForeignKey] = []
    package var referencingTables: [String] = []
    package var checks: [Check] = []
    package var triggers: [Trigger] = []
    /// Rewrite rules, which change what an INSERT means.
    package var rules: [String] = []
    package var rowSecurity = RowSecurity.off
    package var policies: [Policy] = []

    package init(schema: String, name: String, sourceName: String, kind: String) {
      (self.schema, self.name, self.sourceName, self.kind) = (schema, name, sourceName, kind)
    }
  }

  package struct Column: Sendable {
    package var name: String
    package var type: String
    package var isNotNull: Bool
    package var defaultExpression: String?
    /// Where it is not that of the type.
    package var collation: String?
    /// `ALWAYS AS IDENTITY`, `BY DEFAULT AS IDENTITY`, `ALWAYS AS (expression)`.
    package var generation: String?

    package init(
      name: String, type: String, isNotNull: Bool, defaultExpression: String?, collation: String?,
      generation: String?
    ) {
      (self.name, self.type, self.isNotNull) = (name, type, isNotNull)
      (self.defaultExpression, self.collation, self.generation) = (defaultExpression, collation, generation)
    }
  }

  package struct Check: Sendable {
    package var name: String
    package var expression: String

    package init(name: String, expression: String) { (self.name, self.expression) = (name, expression) }
  }

  package struct Trigger: Sendable {
    package var name: String
    /// `BEFORE INSERT OR UPDATE, for each row`.
    package var moment: String
    package var isEnabled: Bool

    package init(name: String, moment: String, isEnabled: Bool) {
      (self.name, self.moment, self.isEnabled) = (name, moment, isEnabled)
    }
  }

  package enum RowSecurity: String, Sendable {
    case off
    /// Policies do not bind this user.
    case bypassed
    /// Policies decide which rows this user reads and writes.
    case active
  }

  /// A policy of row-level security.
  package struct Policy: Sendable {
    package var name: String
    /// `ALL`, `SELECT`, `INSERT`, `UPDATE`, `DELETE`.
    package var command: String
    package var isPermissive: Bool
    package var roles: [String]
    /// Which rows are seen.
    package var using: String?
    /// Which rows may be written.
    package var check: String?

    package init(
      name: String, command: String, isPermissive: Bool, roles: [String], using: String?, check: String?
    ) {
      (self.name, self.command, self.isPermissive) = (name, command, isPermissive)
      (self.roles, self.using, self.check) = (roles, using, check)
    }
  }

  package init(name: String, server: String, database: String, byteCount: UInt64, encoding: String) {
    (self.name, self.server, self.database) = (name, server, database)
    (self.byteCount, self.encoding) = (byteCount, encoding)
  }
}

/// Looks at databases of a kind of server. A module above this one registers what it can look at.
package protocol ServerInspector: Sendable {
  /// - Parameters:
  ///   - url: of the database.
  ///   - table: the only one to look at, as a source names it; nil for all.
  /// - Throws: `unreadableInput` where there is no such database or table, `databaseBusy`.
  func describe(url: String, table: String?) throws(UpsurgeError) -> ServerDescription
}

extension ServerDescription {
  private static let inspectors = Guarded<[String: any ServerInspector]>([:])

  /// - Parameter schemes: what stands before `://` in the URLs of such servers.
  package static func register(_ schemes: [String], _ inspector: any ServerInspector) {
    inspectors.withLock { for scheme in schemes { $0[scheme] = inspector } }
  }

  /// Looks at a database.
  /// - Parameters:
  ///   - server: as `Source.serverParts` has it.
  ///   - table: the only one to look at; nil for all.
  package init(
    of server: Source.ServerParts, table: String?, control: RunControl = RunControl()
  ) throws(UpsurgeError) {
    guard let inspector = Self.inspectors.withLock({ $0[server.scheme] }) else {
      throw UpsurgeError(.unreadableInput, "\(server.scheme):// is not read by this program")
    }
    control.note(stage: .inspecting)
    self = try inspector.describe(url: server.url, table: table)
  }
}
