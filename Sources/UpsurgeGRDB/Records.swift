#if GRDB
  import Foundation
  import GRDB
  import UpsurgeModels

  // A model is a record of GRDB's as soon as it says so:
  //
  //     extension Player: FetchableRecord, PersistableRecord {}
  //
  // Its columns are stored and read by the model's codings, whether or not it is Codable, too.

  extension TableRecord where Self: UpsurgeModels.Table {
    public static var databaseTableName: String { tableName }

    /// A column for the query interface: `Player.filter(Player.column(\.score) > 10)`.
    ///
    /// GRDB stores what a column is compared with, or set to, its own way: a UUID as a blob, a date as its text. Where a column
    /// has another coding, use ``GRDB/QueryInterfaceRequest/where(_:)``, which knows it.
    public static func column<Value>(
      _ path: KeyPath<TableColumns, UpsurgeModels.SQLExpression<Value>>
    ) -> GRDB.Column {
      GRDB.Column(columns(of: .row)[keyPath: path].columnName ?? "")
    }
  }

  extension QueryInterfaceRequest where RowDecoder: UpsurgeModels.Table {
    /// Only rows for which this is true: `Player.all().where { $0.score > 10 && $0.team == nil }`. For requests of one table; where
    /// others are joined, name columns with `filter` and `column`.
    public func `where`(
      _ condition: (RowDecoder.TableColumns) -> UpsurgeModels.SQLExpression<Bool>
    ) -> QueryInterfaceRequest<RowDecoder> {
      let text = condition(RowDecoder.columns(of: .row)).truth
      return filterWhenConnected { _ in
        let (sql, values) = try text.bound
        return SQL(sql: "(\(sql))", arguments: StatementArguments(values.map(\.databaseValue)))
      }
    }
  }

  extension FetchableRecord where Self: UpsurgeModels.Table {
    public init(row: Row) throws { try self.init(columnsOf: row) }
  }

  extension FetchableRecord where Self: UpsurgeModels.Table & Decodable {
    public init(row: Row) throws { try self.init(columnsOf: row) }
  }

  extension EncodableRecord where Self: UpsurgeModels.Table {
    public func encode(to container: inout PersistenceContainer) throws { try put(into: &container) }
  }

  extension EncodableRecord where Self: UpsurgeModels.Table & Encodable {
    public func encode(to container: inout PersistenceContainer) throws { try put(into: &container) }
  }

  // Keys that GRDB is given, as `fetchOne(db, id:)` is, are stored as the model's.
  extension EncodableRecord where Self: UpsurgeModels.Table {
    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
      let sample = UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
      return switch stored(sample, in: column) {
      case .text(sample.uuidString): .uppercaseString
      case .text(sample.uuidString.lowercased()): .lowercaseString
      default: .deferredToUUID
      }
    }

    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
      .custom { stored($0, in: column)?.databaseValue ?? $0.databaseValue }
    }

    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
      .custom { stored($0, in: column)?.databaseValue ?? $0.databaseValue }
    }

    /// A value as a column stores it; nil where the column has values of another type.
    private static func stored<Value>(_ value: Value, in column: String) -> SQLValue? {
      columnDefinitions.first { $0.name.lowercased() == column.lowercased() }?.storing?.stored(value)
    }
  }

  extension UpsurgeModels.Table {
    /// Takes the model's columns from a row, by their names.
    /// - Throws: `badInput` for a column that is missing, or a value that a property cannot have.
    fileprivate init(columnsOf row: Row) throws {
      let names = Self.columnNames
      let values = try names.map { name in
        guard row.hasColumn(name) else {
          throw UpsurgeError(
            .badInput, "the row has no column \(name), which \(Self.self) needs",
            hint: "select the columns \(names.joined(separator: ", "))")
        }
        return SQLValue(row[name] as DatabaseValue)
      }
      var decoder = UpsurgeModels.RowDecoder(values, names: names)
      try self.init(from: &decoder)
    }

    /// - Throws: `badInput` for a value that cannot be stored.
    fileprivate func put(into container: inout PersistenceContainer) throws {
      for (name, value) in zip(Self.columnNames, try columnValues) { container[name] = value.databaseValue }
    }
  }

  extension SQLValue {
    init(_ value: DatabaseValue) {
      switch value.storage {
      case .null: self = .null
      case .int64(let number): self = .integer(number)
      case .double(let number): self = .real(number)
      case .string(let text): self = .text(text)
      case .blob(let data): self = .blob([UInt8](data))
      }
    }

    var databaseValue: DatabaseValue {
      switch self {
      case .null: .null
      case .integer(let number): number.databaseValue
      case .real(let number): number.databaseValue
      case .text(let text): text.databaseValue
      case .blob(let bytes): Data(bytes).databaseValue
      }
    }
  }
#endif
