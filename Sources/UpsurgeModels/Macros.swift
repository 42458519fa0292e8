/// Makes a struct a table: its stored properties are the columns.
///
///     @Table struct Player {
///       let id: Int
///       var name: String
///       @Column("high_score") var highScore = 0
///       @Column(as: Date.UnixTime.self) var seenAt: Date?
///       @Ephemeral var isSelected = false
///     }
///
/// The table is called as the type, in lower camel case and plural (`players`), or by the name given. Optional properties are
/// columns that may be NULL. The property `id` is the primary key; `@Column(primaryKey: true)` names another one, or several.
/// A table with a key has a `Draft`, a row whose key is yet to be made. A literal that is a property's initial value is the
/// column's default. Columns and the draft's properties are as visible as the struct's properties.
///
/// The struct conforms to ``Table``, with a primary key to ``PrimaryKeyedTable``.
@attached(
  extension, conformances: TableRow, Table, PrimaryKeyedTable,
  names: named(TableModel), named(TableColumns), named(tableName), named(columnDefinitions), named(columns),
  named(encode), named(init),
  named(PrimaryKey), named(primaryKey), named(encodePrimaryKey), named(Draft))
public macro Table(_ name: String? = nil) = #externalMacro(module: "UpsurgeMacros", type: "TableMacro")

/// Makes a struct a group of columns, which a table has in the place of a property; or an enum, each of whose cases with a
/// value is a column, or a group, that is NULL for all other cases.
///
///     @Selection struct Timestamps { var createdAt: Date; var updatedAt: Date? }
///     @Selection enum Attachment { case link(String), image([UInt8]) }
///     @Table struct Note { let id: Int; var timestamps: Timestamps; var attachment: Attachment? }
///
/// The columns of `notes` are `id`, `createdAt`, `updatedAt`, `link` and `image`. A case whose value is a group needs a column
/// in it that is never NULL: it shows the case when a row is read.
@attached(
  extension, conformances: ColumnCoding, ColumnGroup,
  names: named(TableColumns), named(columnCount), named(define), named(encode), named(decode), named(init))
public macro Selection() = #externalMacro(module: "UpsurgeMacros", type: "SelectionMacro")

/// Says how a property is a column.
/// - Parameters:
///   - name: of the column, where it is not the property's.
///   - coding: how the value is stored, where that is not the type's own way: `Date.UnixTime.self`, `JSON<[String]>.self`.
///   - primaryKey: whether the column is the primary key, or part of it. `false` makes `id` a column like any other.
@attached(peer)
public macro Column(
  _ name: String? = nil, as coding: (any ColumnCoding.Type)? = nil, primaryKey: Bool = false
) =
  #externalMacro(module: "UpsurgeMacros", type: "ColumnMacro")

/// Says that a property is not stored. It has its initial value when a row is read.
@attached(peer)
public macro Ephemeral() = #externalMacro(module: "UpsurgeMacros", type: "EphemeralMacro")
