/// How rejected records were read and were to be stored: all that is needed to try their raw bytes again.
///
/// As JSON it is the line that stands above them in a file of rejects:
///
///     {"upsurge_rejects":1,"table":"t","rules":{"key":["id"]},"contract":"freeze","format":"csv",
///      "dialect":{"delimiter":",","quote":"\""},"fields":["id",null,"name"]}
package struct RejectContext: Sendable, Equatable {
  /// How raw bytes become fields.
  enum Layout: Sendable, Equatable {
    /// The column of each field; nil where the field is not loaded.
    case csv(CSVDialect, fields: [String?])
    /// - header: the names that the elements of array records have; empty where records are objects.
    /// - wanted: the keys that are read; nil for all.
    case json(JSONDialect, header: [String], wanted: [String]?, renames: [String: String])
  }

  package var table: String
  /// As `RulesText` spells them.
  package var rules: String
  var layout: Layout
  /// What becomes of columns that the table lacks.
  package var contract: SchemaContract
  /// Whether a value is a reject when its column would change its spelling, as in a table that the load made.
  package var keepsSpelling = false
  /// Columns whose texts are taken for numbers, however they are written. In a table that existed only those of the key count.
  package var consentedColumns: [String] = []
  /// The SQL that makes rows of the fields.
  package var shaping: Shaping?
  /// Columns that no field fills. What the run's beginning is, is a text already.
  var added: [String: AddedValue] = [:]
  /// How values are written, by column.
  var values = ValueFormats()
  var blobEncoding: BlobEncoding?
  /// The folder of `--blob-folder`, from the root; nil for that of the input.
  var blobFolder: String?
  var foreignKeys = ForeignKeyPolicy.auto
  var triggers = TriggerPolicy.run
  /// The folder in which the names of the records' files begin, from the root; nil where they begin at the root.
  var folder: String?
}

extension RejectContext {
  /// Whether records name their columns themselves.
  var isJSON: Bool { if case .json = layout { true } else { false } }

  /// Computed columns and a filter, as the load has had them.
  package struct Shaping: Sendable, Equatable {
    var computed: [LoadOptions.ComputedColumn]
    var filter: String?
    /// The names of all fields of a CSV record; empty for JSON, whose records name theirs.
    var fieldNames: [String]
    /// Fields of CSV whose values are read as numbers though no column of their own says so.
    var numberFields: [String] = []

    /// All that is SQL.
    package var expressions: [String] { computed.map(\.sql) + (filter.map { [$0] } ?? []) }
  }

  /// What becomes of values whose spelling their column would change.
  package var spellingPolicy: ColumnTarget.SpellingPolicy { keepsSpelling ? .reject : .warn }

  /// A hash of what decides how raw bytes are read. The first load of a table makes it, and so has other rules for columns
  /// and values than those after it.
  var identity: UInt64 {
    var context = self
    (context.rules, context.contract, context.keepsSpelling) = ("{}", .freeze, false)
    // It changes no row by itself, and is another one each night.
    (context.consentedColumns, context.added) = ([], [:])
    return Array(context.text.utf8).withUnsafeBytes { ContentHash.hash($0) }
  }

  /// The context of one source.
  /// - Parameters:
  ///   - columns: the run's columns, those of this source included.
  ///   - startedAt: when the run began; `now` is when this part of it did.
  init(
    _ source: PreparedSource, table: some StoreTable, columns: ColumnRegistry, options: LoadOptions,
    startedAt: String = "",
    now: String = ""
  ) throws(UpsurgeError) {
    added = options.table.added.mapValues { $0 == .run ? .text(startedAt) : $0 == .now ? .text(now) : $0 }
    let facts = table.facts
    self.table = table.lookupName
    rules = RulesText.encode(table.rules(for: columns.targets))
    contract = facts.isNew ? .evolve : options.table.contract
    keepsSpelling = facts.isNew
    let key = table.keyColumns
    consentedColumns = options.table.consentedColumns.filter { name in
      facts.isNew || key.contains { SQLName.isSame($0, name) }
    }
    shaping =
      options.shapesRecords
      ? Shaping(
        computed: options.table.computedColumns, filter: options.input.filter, fieldNames: source.headerNames,
        numberFields: try source.numberFields(for: facts, options: options).sorted())
      : nil
    values = options.input.values
    blobEncoding = options.table.blobEncoding
    blobFolder = options.table.blobFolder.map { realPath($0) ?? $0 }
    foreignKeys = options.table.foreignKeys
    triggers = options.table.triggers
    folder = SourceName.folder(of: source.opened.name)
    switch source.shape {
    case .csv(let sniffed):
      let names = try FieldSelection(options: options).columnNames(
        of: sniffed.headerNames, file: source.opened.name)
      let fields = names.map { name in name.flatMap { columns.slot(named: $0) == nil ? nil : $0 } }
      layout = .csv(sniffed.dialect, fields: fields)
    case .json(let format):
      let dialect = options.input.dialect(of: format)
      layout = .json(
        dialect, header: [], wanted: options.table.columns.isEmpty ? nil : options.table.columns,
        renames: options.table.renames
      )
    }
  }
}

/// The contexts of a run's sources: noted by the reading thread, asked for by the writing thread.
package final class RejectContexts: Sendable {
  private struct Entry {
    var context: RejectContext
    /// The context as JSON, made with the first reject.
    var text: String?
    /// See `identity(of:)`.
    var identity: UInt64?
  }

  private let entries = Guarded<[String: Entry]>([:])

  /// Notes how the records of a source are read, before the first of them is.
  /// - Parameter names: how positions may name the source.
  func note(_ context: RejectContext, of names: String...) {
    entries.withLock { for name in names { $0[name] = Entry(context: context) } }
  }

  /// Notes the names that stand above array records.
  func note(header: [String], of name: String) {
    entries.withLock {
      guard case .json(let dialect, let known, let wanted, let renames) = $0[name]?.context.layout,
        known != header
      else { return }
      $0[name]?.context.layout = .json(dialect, header: header, wanted: wanted, renames: renames)
      $0[name]?.text = nil
      $0[name]?.identity = nil
    }
  }

  /// What shows whether records of two deliveries with the same bytes are the same record: how they are read, and from
  /// where; 0 for a source that nobody noted.
  package func identity(of name: String) -> UInt64 {
    entries.withLock {
      guard let entry = $0[name] else { return 0 }
      if let identity = entry.identity { return identity }
      let identity = entry.context.identity
      $0[name]?.identity = identity
      return identity
    }
  }

  /// The context of a source as JSON; nil for one that nobody noted.
  package func text(of name: String) -> String? {
    entries.withLock {
      guard let entry = $0[name] else { return nil }
      if let text = entry.text { return text }
      let text = entry.context.text
      $0[name]?.text = text
      return text
    }
  }
}
