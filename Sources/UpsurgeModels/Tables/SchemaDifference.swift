import UpsurgeRecords
import UpsurgeSQLite

/// Something in which a table is not what its model says, so that a row of one cannot be a row of the other.
public struct SchemaDifference: Sendable, Equatable, CustomStringConvertible {
  /// The column; nil for the table as a whole.
  public var column: String?
  /// What is different: `the table has TEXT, the model INTEGER`.
  public var text: String

  public var description: String { column.map { "\($0): \(text)" } ?? text }
}

extension ColumnDefinition {
  /// The column in a full-text index, which knows neither types nor constraints.
  fileprivate var indexed: ColumnDefinition {
    var column = self
    column.storage = .any
    column.isNullable = true
    return column
  }
}

extension TableSchema {
  /// In what a table is different from what a model says.
  func differences<Model: Table>(from model: Model.Type) -> [SchemaDifference] {
    let columns = Model.columnDefinitions
    return differences(from: model is any SearchTable.Type ? columns.map(\.indexed) : columns)
  }

  private func differences(from model: [ColumnDefinition]) -> [SchemaDifference] {
    var found: [SchemaDifference] = []
    for column in columns where column.isMissedBy(model) {
      found.append(
        SchemaDifference(
          column: column.name, text: "the model does not have it, and it is NOT NULL without a default"))
    }
    for wanted in model {
      guard let column = columns.first(where: { SQLName.isSame($0.name, wanted.name) }) else {
        found.append(SchemaDifference(column: wanted.name, text: "the table does not have it"))
        continue
      }
      found += differences(column, wanted).map { SchemaDifference(column: column.name, text: $0) }
    }
    let keys = (
      columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }.map(\.name),
      model.filter(\.isPrimaryKey).map(\.name)
    )
    if Set(keys.0.map(SQLName.folded)) != Set(keys.1.map(SQLName.folded)) {
      found.append(
        SchemaDifference(
          text: "the primary key of the table is \(Self.named(keys.0)), of the model \(Self.named(keys.1))"))
    }
    return found
  }

  private func differences(_ column: Column, _ wanted: ColumnDefinition) -> [String] {
    var found: [String] = []
    if column.generation != .none { found.append("the table computes it, and it cannot be written") }
    if !takes(wanted.storage, column) {
      let type = column.declaredType.isEmpty ? "no type" : column.declaredType
      found.append("the table has \(type), the model \(wanted.storage.rawValue)")
    }
    let isRowid = rowidAlias.map { columns[$0].name == column.name } ?? false
    let isNullable = !column.isNotNull && !isRowid && !(isWithoutRowid && column.keyOrdinal > 0)
    if isNullable && !wanted.isNullable && column.keyOrdinal == 0 {
      found.append("the table may have NULL, the model not")
    } else if !isNullable && wanted.isNullable && !isRowid {
      found.append("the model may have NULL, the table not")
    }
    return found
  }

  /// Whether a column keeps values as the model stores them.
  private func takes(_ storage: StorageClass, _ column: Column) -> Bool {
    if isStrict {
      return column.declaredType.uppercased() == storage.rawValue
        || column.declaredType.uppercased() == "INT" && storage == .integer
    }
    switch storage {
    case .any: return column.affinity == .none
    case .blob: return true
    case .integer: return [.integer, .numeric, .none].contains(column.affinity)
    case .real: return [.real, .numeric, .none].contains(column.affinity)
    case .text: return [.text, .none].contains(column.affinity)
    }
  }

  private static func named(_ names: [String]) -> String {
    names.isEmpty ? "none" : "(\(names.joined(separator: ", ")))"
  }
}

extension TableSchema.Column {
  fileprivate func isMissedBy(_ model: [ColumnDefinition]) -> Bool {
    isNotNull && defaultExpression == nil && generation == .none && !isHidden && keyOrdinal == 0
      && !model.contains { SQLName.isSame($0.name, name) }
  }
}
