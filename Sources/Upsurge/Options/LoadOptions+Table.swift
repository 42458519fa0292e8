extension LoadOptions {
  /// The table of a load: what it is made of where it is new, and what may happen to it.
  public struct Table: Sendable {
    /// The fields to load, by their names in the input; empty means all.
    public var columns: [String] = []
    /// New names of fields: from the name in the input to the column's name.
    public var renames: [String: String] = [:]
    /// Columns whose values SQL makes of the record's fields; one that is named as a field takes its place.
    public var computedColumns: [ComputedColumn] = []
    /// Declared types of columns in a table that this run creates.
    public var types: [String: String] = [:]
    /// Columns that no field of the input fills, with what they hold; made in a table that this run creates.
    public var added: [String: AddedValue] = [:]
    /// Columns of a table that this run creates that are NOT NULL, beside those of the key.
    public var notNullColumns: [String] = []
    /// What records that lack a column get, in a table that this run creates.
    public var defaults: [String: String] = [:]
    public var inference: Inference = .sample
    public var createsTable = true
    /// Whether a table that this run creates is STRICT.
    public var isStrict = false
    /// What becomes of records with columns that an existing table lacks.
    public var contract = SchemaContract.freeze
    /// Whether that was asked for, and is no default: then also a new table has no columns but those of its first file.
    package var freezesNewTables = false
    /// How text becomes a BLOB in columns declared BLOB; `nil` stores the text.
    public var blobEncoding: BlobEncoding?
    /// Where the files that records name must be; `nil` is the folder of the input file.
    public var blobFolder: String?
    public var triggers = TriggerPolicy.run
    public var foreignKeys = ForeignKeyPolicy.auto
    /// A file of SQL that is run on the engine's connection before the table is looked at: TEMP triggers and views,
    /// ATTACH, settings. It may not change the database itself.
    public var initPath: String?
    /// SQL for the engine's connection as text; run after the file.
    public var initSQL: String?
    /// The schema of the tables in which a server keeps runs and feeds; nil is that of the table.
    public var stateSchema: String?

    public init() {}

    /// Columns whose texts are numbers, as `--type` says: also in a key, and in a table that exists.
    package var consentedColumns: [String] {
      types.filter { $0.value != "ANY" && Affinity(declaredType: $0.value).isNumeric }.map(\.key).sorted()
    }

    /// The options that only count for a table that is made.
    /// - Parameter hasSQL: whether SQL speaks of fields, which are found where types are.
    func optionsOfNewTables(hasSQL: Bool) -> [Wording] {
      var options: [Wording] = []
      if isStrict { options.append("\(.strict)") }
      if !notNullColumns.isEmpty { options.append("\(.notNull)") }
      if !defaults.isEmpty { options.append("\(.default)") }
      // A column that is added takes its type, and in a key a type of numbers says that texts are numbers.
      if types.count > consentedColumns.count && contract != .evolve { options.append("\(.type)") }
      if inference == .full && contract != .evolve && !hasSQL { options.append("\(.infer, "full")") }
      return options
    }
  }

  /// A column whose value SQLite makes of each record's fields, before types, key and merge rules.
  public struct ComputedColumn: Sendable, Equatable {
    public var name: String
    /// One expression over the fields, by their names in the input. It sees no table.
    public var sql: String

    public init(_ name: String, _ sql: String) { (self.name, self.sql) = (name, sql) }
  }

  /// How the types of a new table's columns are found.
  public enum Inference: String, Sendable, CaseIterable {
    /// From the first MiB of the input.
    case sample
    /// From all of it, which is read twice.
    case full
    /// Every column is TEXT.
    case none
  }
}
