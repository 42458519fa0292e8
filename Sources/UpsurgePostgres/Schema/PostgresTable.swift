import Upsurge
import UpsurgeRecords

/// A table as the catalogue has it: all that decides which rows it takes, and by which statements.
package struct PostgresTable: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case table
    /// A table whose rows are in partitions, of which some may be tables of other servers.
    case partitioned
    /// A table of another server.
    case foreign
    case view
    case materializedView
    /// A table whose rows are on the workers of Citus.
    case distributed
  }

  package var oid: UInt32
  package var schema: String
  package var name: String
  package var kind: Kind
  package var columns: [PostgresColumn]
  package var uniqueIndexes: [PostgresIndex]
  package var constraints: [PostgresConstraint]
  package var triggers: [PostgresTrigger]
  /// Rewrite rules, which change what a statement means.
  package var rules: [PostgresRule]
  /// Whether policies decide which rows this user sees.
  package var hasRowSecurity: Bool
  package var isTemporary: Bool
  package var isUnlogged: Bool
  /// Whether some rows are in tables of other servers, whose commits are not one.
  package var hasForeignPartitions: Bool
  /// Whether its rows are in partitions, here or on the workers of Citus, so that system columns cannot be asked for.
  package var hasPartitions: Bool
  /// Whether other tables inherit from it: their rows are seen through it, and its keys say nothing about them.
  package var hasChildren = false
  /// Unique keys that only some of its partitions have.
  package var partitionKeys: [String] = []
  /// Rows as the last ANALYZE has counted them; nil before the first.
  package var rowEstimate: Double?
  /// What the user may do.
  package var rights: Rights

  package struct Rights: Sendable, Equatable {
    package var selects: Bool
    package var inserts: Bool
    package var updates: Bool
    package var deletes: Bool
  }

  /// Whether a crash of the server, and a standby that takes over, leave nothing of the rows that this user stores and sees.
  package var losesRowsInCrash: Bool { isUnlogged && rights.selects && !hasRowSecurity && !hasRowTriggers }

  /// `"schema"."name"`, as statements name it.
  package var quotedName: String { "\(schema.quotedForPostgres).\(name.quotedForPostgres)" }

  /// The rows without those of tables that inherit from the table: no record is about these, as no key finds them.
  package var ownRows: String { hasChildren ? "ONLY \(quotedName)" : quotedName }

  package func column(_ name: String) -> PostgresColumn? { columns.first { $0.name == name } }

  package var primaryKey: PostgresIndex? { uniqueIndexes.first(where: \.isPrimary) }

  /// Whether something runs for each row that may change or refuse it.
  package var hasRowTriggers: Bool { triggers.contains { $0.isForEachRow && $0.isEnabled } }
}

/// A column of a table.
package struct PostgresColumn: Sendable, Equatable {
  package enum Generation: Sendable, Equatable {
    /// GENERATED ALWAYS AS IDENTITY: a value is only taken with OVERRIDING SYSTEM VALUE.
    case identityAlways
    case identityByDefault
    /// GENERATED ALWAYS AS (expression): never written.
    case expression
  }

  /// The number of the column in the table, from 1; dropped columns leave gaps.
  package var number: Int
  package var name: String
  /// The OID of its type, which may be a domain.
  package var type: UInt32
  /// As SQL names it: `numeric(10,2)`.
  package var typeName: String
  /// The type that a text is cast to: without the length that elements of an array have, as a cast cuts what is too long.
  package var castName: String?
  /// The type that its bytes are of: that below all domains.
  package var baseType: UInt32
  /// The length, or precision and scale, of the base type; -1 for none.
  package var modifier: Int32
  package var isDomain: Bool
  package var isNotNull: Bool
  package var generation: Generation?
  /// The expression of its DEFAULT.
  package var defaultExpression: String?
  /// The sequence that fills it, where one does.
  package var sequence: String?
  /// nil where the type has none.
  package var collation: PostgresCollation?
  /// Whether `=` and an order are defined, and equal values are one value: json, xml and point have no equality, and `1 day` is
  /// equal to `24:00:00`.
  package var hasEquality: Bool
  /// Whether it is NOT NULL itself, for all rows that there are: not by its domain, and not NOT VALID.
  package var isProvenNotNull = false

  /// Whether a statement may name it as one that it writes.
  package var isWritable: Bool { generation != .expression }
}

/// What decides which texts are equal, and their order.
package struct PostgresCollation: Sendable, Equatable {
  package var name: String
  /// nil where `search_path` need not find it.
  package var schema: String?
  /// Equal texts are equal bytes.
  package var isDeterministic: Bool
  /// The order is that of the bytes.
  package var isBytewise: Bool

  /// As COLLATE takes it.
  var quotedName: String { (schema.map { $0.quotedForPostgres + "." } ?? "") + name.quotedForPostgres }
}

/// A unique index.
package struct PostgresIndex: Sendable, Equatable {
  /// A part of the key.
  package struct Part: Sendable, Equatable {
    /// The column; nil for an expression.
    package var column: String?
    /// As SQL has it: `"id"`, `lower(b)`.
    package var definition: String
    /// The collation of the index, which may be another than that of the column.
    package var collation: PostgresCollation?
    /// The columns that the expression is made of.
    package var operands: [String] = []
  }

  package var name: String
  package var parts: [Part]
  package var isPrimary: Bool
  /// Whether it holds for all rows: one whose building has failed does not.
  package var isValid: Bool
  /// Whether it is checked at once; a DEFERRABLE one is no target of ON CONFLICT.
  package var isImmediate: Bool
  /// The WHERE of a partial index.
  package var predicate: String?
  /// The columns that the predicate speaks of.
  package var predicateColumns: [String] = []
  /// Whether two NULLs are the same key.
  package var treatsNullsAsEqual: Bool

  /// The columns, where all parts are columns.
  package var columns: [String]? {
    let names = parts.compactMap(\.column)
    return names.count == parts.count ? names : nil
  }

  /// Whether ON CONFLICT can be about it.
  package var isConflictTarget: Bool { isValid && isImmediate }
}

/// A CHECK, a foreign key or an exclusion; unique ones are indexes.
package struct PostgresConstraint: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// With the expression, which finds rows that would fail.
    case check(expression: String)
    case foreignKey(table: String, isOwnTable: Bool)
    case exclusion
  }

  package var name: String
  package var kind: Kind
  /// As ALTER TABLE ADD CONSTRAINT takes it.
  package var definition: String
  /// Whether it may be checked at the end of the transaction.
  package var isDeferrable: Bool
}

package struct PostgresTrigger: Sendable, Equatable {
  package var name: String
  package var isForEachRow: Bool
  /// Whether it runs before the row is stored, and may change it or leave it out.
  package var isBefore: Bool
  package var isInsteadOf: Bool
  package var isEnabled: Bool
}

/// A rewrite rule.
package struct PostgresRule: Sendable, Equatable {
  /// The statement that it is about.
  package enum Event: String, Sendable {
    case select = "SELECT"
    case update = "UPDATE"
    case insert = "INSERT"
    case delete = "DELETE"
  }

  package var name: String
  package var event: Event
}

extension String {
  /// A name as SQL takes it, whatever it holds: `"a ""b"""`.
  package var quotedForPostgres: String {
    "\"" + replacing("\"", with: "\"\"") + "\""
  }
}

extension PostgresTable {
  /// The column of that name; where there is not one, the only one that differs in large and small letters alone.
  func columnLike(_ name: String) -> PostgresColumn? {
    if let exact = column(name) { return exact }
    let alike = columns.filter { SQLName.isSame($0.name, name) }
    return alike.count == 1 ? alike[0] : nil
  }
}
