import UpsurgeRecords

/// What SQLite knows of one table or view, as far as writing to it depends on it. Other stores say of theirs what a feed must fit.
package struct TableSchema: Sendable, Equatable {
  package enum Kind: String, Sendable { case table, view, virtual, shadow }

  /// The name as the schema spells it.
  package var name: String
  package var kind = Kind.table
  package var isStrict = false
  package var isWithoutRowid = false
  /// In table order, generated and hidden ones included.
  package var columns: [Column] = []
  /// The column that is another name of the rowid (`INTEGER PRIMARY KEY`), by index.
  package var rowidAlias: Int?
  /// The name by which the rowid was made a column; nil where it is not one (see `namingRowid`).
  package var namedRowid: String?
  /// PRIMARY KEY first, then each UNIQUE constraint and UNIQUE index in the order of their making.
  package var keys: [Key] = []
  /// Triggers on the table, TEMP ones included.
  package var triggers: [String] = []
  /// Whether a trigger or a constraint of the database says FAIL, ROLLBACK or, where foreign keys act, IGNORE: what
  /// triggers do for a row that fails may then stay.
  package var hasUnsafeTriggers = false
  /// Whether another table has triggers.
  package var hasTriggersElsewhere = false
  package var foreignKeys: [ForeignKey] = []
  /// Whether a foreign key is DEFERRABLE INITIALLY DEFERRED.
  package var hasDeferredForeignKeys = false
  /// Tables with a foreign key to this one.
  package var referencingTables: [String] = []
  /// The foreign keys of tables that refer to this one, table by table.
  package var referencingKeys: [ReferencingKey] = []
  /// Whether one of them has ON DELETE or ON UPDATE with CASCADE, SET NULL or SET DEFAULT.
  package var hasActingReferences = false
  package var hasAutoincrement = false
  package var hasCheck = false
  /// Whether a CHECK calls any function.
  package var checkCallsFunction = false
  /// Whether a CHECK calls a function that may raise an error instead of saying no.
  package var checkMayRaise = false
  /// Whether a virtual table speaks of the table, which may then know its rows by their rowid: FTS5 with `content='t'`.
  package var isNamedByVirtualTable = false
  /// Whether a secondary index is on an expression or partial.
  package var hasComputedIndex = false
  /// When this was so. A schema that was read again is the same one.
  @NotCompared package var moment = SchemaMoment()

  package struct Column: Sendable, Equatable {
    package enum Generation: Sendable { case none, virtual, stored }

    package var name: String
    package var declaredType: String
    package var affinity: Affinity
    /// The collation that comparisons of the column use; BINARY when none is declared.
    package var collation: String
    package var isNotNull: Bool
    /// The column's `NOT NULL ON CONFLICT` word.
    package var notNullConflict: ConflictClause?
    /// The default as SQL text.
    package var defaultExpression: String?
    package var generation: Generation
    /// A hidden column of a virtual table.
    package var isHidden: Bool
    /// Place in the PRIMARY KEY, from 1; 0 when it is not part of it.
    package var keyOrdinal: Int

    package init(
      name: String, declaredType: String, affinity: Affinity, collation: String, isNotNull: Bool,
      notNullConflict: ConflictClause? = nil, defaultExpression: String? = nil, generation: Generation,
      isHidden: Bool, keyOrdinal: Int
    ) {
      self.name = name
      self.declaredType = declaredType
      self.affinity = affinity
      self.collation = collation
      self.isNotNull = isNotNull
      self.notNullConflict = notNullConflict
      self.defaultExpression = defaultExpression
      self.generation = generation
      self.isHidden = isHidden
      self.keyOrdinal = keyOrdinal
    }
  }

  package enum ConflictClause: String, Sendable { case rollback, abort, fail, ignore, replace }

  /// A PRIMARY KEY, UNIQUE constraint or UNIQUE index.
  package struct Key: Sendable, Equatable {
    package enum Kind: Sendable { case primaryKey, uniqueConstraint, uniqueIndex }

    package struct Part: Sendable, Equatable {
      /// The column's name; nil for an expression.
      package var column: String?
      package var collation: String
      /// The expression as the index spells it; nil for a column.
      package var expression: String?

      package init(column: String? = nil, collation: String, expression: String? = nil) {
        self.column = column
        self.collation = collation
        self.expression = expression
      }
    }

    package var kind: Kind
    /// The index's name; nil for a PRIMARY KEY that is the rowid.
    package var indexName: String?
    package var parts: [Part]
    package var isPartial: Bool
    /// What follows the WHERE of a partial index.
    package var predicate: String?
    /// The CREATE INDEX statement, where there is one.
    package var sql: String?
    /// The constraint's `ON CONFLICT` word.
    package var conflictClause: ConflictClause?

    package init(
      kind: Kind, indexName: String? = nil, parts: [Part], isPartial: Bool, predicate: String? = nil,
      sql: String? = nil, conflictClause: ConflictClause? = nil
    ) {
      self.kind = kind
      self.indexName = indexName
      self.parts = parts
      self.isPartial = isPartial
      self.predicate = predicate
      self.sql = sql
      self.conflictClause = conflictClause
    }

    /// The columns, when every part is a plain column.
    package var columns: [String]? {
      let names = parts.compactMap(\.column)
      return names.count == parts.count ? names : nil
    }
    /// Whether the key is the rowid itself.
    package var isRowidAlias: Bool { kind == .primaryKey && indexName == nil }
    /// Whether `ON CONFLICT (columns)` alone can name it.
    package var isPlain: Bool { !isPartial && columns != nil }
  }

  package struct ForeignKey: Sendable, Equatable {
    package var columns: [String]
    package var parentTable: String
    /// Empty when the parent's PRIMARY KEY is meant.
    package var parentColumns: [String]
    /// The parent's PRIMARY KEY.
    package var parentKey: [String] = []

    package init(
      columns: [String], parentTable: String, parentColumns: [String] = [], parentKey: [String] = []
    ) {
      (self.columns, self.parentTable) = (columns, parentTable)
      (self.parentColumns, self.parentKey) = (parentColumns, parentKey)
    }

    /// The columns of the parent that it refers to, named or not.
    package var referredColumns: [String] { parentColumns.isEmpty ? parentKey : parentColumns }
  }

  /// A foreign key of another table to this one, or of the table to itself.
  package struct ReferencingKey: Sendable, Equatable {
    package var table: String
    package var columns: [String]
    /// What `ON DELETE` says: `NO ACTION`, `RESTRICT`, `CASCADE`, `SET NULL` or `SET DEFAULT`.
    package var onDelete: String

    package init(table: String, columns: [String], onDelete: String) {
      (self.table, self.columns, self.onDelete) = (table, columns, onDelete)
    }

    /// Whether it refuses that its parent is deleted.
    package var keepsParent: Bool { onDelete == "NO ACTION" || onDelete == "RESTRICT" }
  }

  /// The index of a column by name, as SQLite compares names.
  package func columnIndex(_ name: String) -> Int? {
    columns.firstIndex { SQLName.isSame($0.name, name) }
  }

  /// The indexes of all columns by their folded names, for many look-ups.
  package var columnIndexes: [String: Int] {
    Dictionary(columns.enumerated().map { (SQLName.folded($1.name), $0) }) { first, _ in first }
  }

  /// The PRIMARY KEY's columns in its order; empty without one.
  package var primaryKeyColumns: [String] {
    columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }.map(\.name)
  }

  /// The table's side of an input column with this name; nil when the table lacks it.
  package func columnTarget(_ name: String, spellingPolicy: ColumnTarget.SpellingPolicy) -> ColumnTarget? {
    columnIndex(name).map { columns[$0].target(spellingPolicy: spellingPolicy) }
  }
}

extension TableSchema.Column {
  /// The table's side of an input column with this name.
  package func target(spellingPolicy: ColumnTarget.SpellingPolicy) -> ColumnTarget {
    ColumnTarget(
      name: name, affinity: affinity, spellingPolicy: spellingPolicy,
      isBlob: affinity == .none && declaredType.uppercased().contains("BLOB"))
  }
}

extension TableSchema.Key: CustomStringConvertible {
  /// `PRIMARY KEY (a, b)`, `UNIQUE (email)`, with what keeps it from being named by its columns.
  package var description: String {
    let word = kind == .primaryKey ? "PRIMARY KEY" : "UNIQUE"
    var text = "\(word) (\(parts.map { $0.column ?? $0.expression ?? "?" }.joined(separator: ", ")))"
    if let predicate { text += " WHERE \(predicate)" }
    return text.escapedForTerminal
  }
}

extension TableSchema {
  /// A table that does not exist: a plan for it keeps every record.
  package init(missing name: String) { self.init(name: name) }
}
