import CScan
import UpsurgeRecords

/// Reads records from NDJSON or a JSON document (RFC 8259, strictly).
///
/// A record is read in one pass: strings without escapes stay where they are in the arena, numbers become typed
/// cells, nested values stay as JSON text. Keys are predicted from the record before (see ``JSONKeyTable``), so
/// that a record of the usual shape costs one comparison a key and allocates nothing.
///
/// A key without a column lets the record be read to its end first; only a record that is good makes columns.
/// When the batch has records already it is closed, and the record is read again in the next, wider batch.
///
/// One parser reads one source; copies share their table of keys and must not be used side by side.
package struct JSONParser: RecordParser, Sendable {
  /// What the records of the source are; the first one decides.
  enum Shape { case unknown, objects, arrays }

  /// What the elements of array records are.
  struct Header {
    /// The column names of the elements; empty where records are objects.
    var names: [String] = []
    /// The slots of the elements in the same order, or marks of `JSONKeyTable`.
    var slots: [Int] = []
  }

  /// The record in work.
  struct Record {
    /// The key of the record, where it is the value of a map.
    var mapName: MapName?
    /// A number that no other reading of a record has; the same record may be read twice.
    var readingNumber: UInt64 = 0
    var fault: JSONFault?
    /// Columns that wait for the record's end.
    var newNames = JSONNewNames()
    /// Warnings that count only when the record is stored.
    var pendingWarnings = JSONPendingWarnings()
    /// Cells of the record that were filled.
    var filledCount = 0
    /// Bytes of the files that the record names.
    var blobByteCount = 0
    /// Bytes of the files that the record names for which there was no room.
    var missingSpillByteCount = 0
    /// Whether the key in work stood in its object before.
    var isKeyRepeated = false
    /// The objects that are open when flattening.
    var openKeys: [Int32] = []
  }

  package let dialect: JSONDialect
  package let file: String
  /// How strings of BLOB columns are decoded; nil: they are stored as text.
  let blobs: BlobDecoding?
  let decodesBlobs: Bool
  /// The formats of columns; nil where values are what they say.
  let values: ValueReaders?
  /// The reader of each slot; empty without formats.
  var readers: [ValueReader?] = []
  /// Columns that no key fills, and somebody else does.
  package var columnCountFilledLater = 0

  package internal(set) var columns: [ColumnTarget]
  var columnNames: JSONColumnNames
  let keys: JSONKeyTable

  /// Columns that no batch has announced yet.
  var unannounced: [ColumnTarget] = []
  /// Number of the record before the next one.
  var recordNumber: UInt64 = 0
  /// Line of `batch.parsedByteCount`, from 1.
  var line: UInt64 = 1

  var shape = Shape.unknown
  var header = Header()
  var record = Record()
  var leftOut = JSONLeftOutKeys()
  var newWarnings = WarningLog()

  /// Whether usual members are read by the kernel; tests compare with and without.
  package var usesKernelForMembers = true

  package var cancellation: ReadCancellation?

  // NDJSON.
  var lineProgress = LineProgress()

  // A document.
  /// Looks for the end of a record that did not fit the arena.
  var endSearch: JSONEndSearch?
  var document: JSONDocumentState
  let lastDetails: JSONParserDetails

  /// - Parameters:
  ///   - file: The source's name, for positions.
  ///   - columns: The columns known so far (the table's, or the sample's), in slot order.
  ///   - blobs: How strings of BLOB columns are decoded.
  ///   - columnLimit: The most columns; a record that needs more is a reject.
  ///   - values: How values of columns are written.
  package init(
    dialect: JSONDialect, file: String, columns: [ColumnTarget], policy: JSONKeyPolicy,
    blobs: BlobDecoding? = nil, columnLimit: Int = JSONParser.mostColumns, values: ValueReaders? = nil
  ) {
    self.dialect = dialect
    self.blobs = blobs
    decodesBlobs = blobs != nil
    self.file = file
    self.columns = columns
    self.values = values
    if let values {
      readers = columns.map(values.reader)
      // It knows no formats.
      usesKernelForMembers = false
    }
    columnNames = JSONColumnNames(
      of: columns, policy: policy, limit: columnLimit, mapColumn: dialect.mapColumn)
    keys = JSONKeyTable(separatorByteCount: dialect.flattenSeparator?.utf8.count ?? 0)
    if dialect.mapColumn != nil { shape = .objects }
    document = JSONDocumentState(dialect: dialect)
    lastDetails = JSONParserDetails(dialect: dialect)
  }

  package mutating func parse(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError) {
    if batch.recordCount == 0 { begin(&batch) }
    defer {
      if !newWarnings.isEmpty {
        batch.warnings.merge(newWarnings)
        newWarnings = WarningLog()
      }
    }
    switch dialect.format {
    case .ndjson: try parseLines(&batch, isFinal: isFinal)
    case .json: try parseDocument(&batch, isFinal: isFinal)
    }
  }

  package mutating func rejectTooLarge(_ batch: inout Batch, limit: Int) throws(UpsurgeError) {
    switch dialect.format {
    case .ndjson: dropLine(&batch, limit: limit)
    case .json: throw documentTooLarge(batch, limit: limit)
    }
  }

  /// Gives the batch the columns of now and announces the new ones.
  mutating func begin(_ batch: inout Batch) {
    batch.begin(columnCount: columns.count)
    if !header.names.isEmpty { batch.elementNames = header.names }
    if unannounced.isEmpty { return }
    batch.newColumns += unannounced
    unannounced = []
  }
}
