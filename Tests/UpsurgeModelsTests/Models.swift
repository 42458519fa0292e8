import Foundation
import UpsurgeModels

// The models of the tests: one for each thing that a model can say.

@Table struct Player: Equatable {
  let id: Int
  var name: String
  @Column("high_score") var highScore = 0
  var team: String?
  @Ephemeral var isSelected = false
}

enum Status: String, ColumnValue { case open, done }

@Table("all_kinds") struct Kinds: Equatable {
  @Column(primaryKey: true) var key: UUID
  @Column(as: UUID.Bytes.self) var bytes: UUID
  @Column(as: UUID.Uppercased.self) var upper: UUID?
  var flag = true
  var small: Int16
  var ratio: Double
  var blob: [UInt8]
  var data: Data?
  var createdAt: Date
  @Column(as: Date.UnixTime.self) var seenAt: Date?
  @Column(as: Date.Seconds.self) var dueAt: Date
  @Column(as: JSON<[String]>.self) var tags: [String]
  var status: Status
  var `default`: Int?
  var any: SQLValue
}

@Selection struct Timestamps: Equatable {
  var createdAt: Int
  var updatedAt: Int?
}

@Selection struct Picture: Equatable {
  var url: String
  @Column("image_width") var width: Int
}

@Selection enum Attachment: Equatable {
  case link(String)
  case picture(Picture)
  case text(body: String)
}

@Table struct Note: Equatable {
  let id: Int
  var timestamps: Timestamps
  var review: Review?
  var attachment: Attachment?
}

@Selection struct Review: Equatable {
  var reviewer: String
  var stars: Int?
}

@Table struct Book: Equatable {
  @Column("library_id", primaryKey: true) var libraryID: Int
  @Column("remote_id", primaryKey: true) var remoteID: String
  var title: String?
  var count = 0
  var updatedAt = 0
}

/// Types that are nested, and properties with names that the macros use themselves.
enum Outer {
  @Table struct Part: Equatable {
    let id: Int
    var source: String
    var row: Row
    var columns = 1
    var value: Int?
    var key = "k"
    var found = false
    var left, right: Int?
    var note: String!
    var group: Pair?
  }

  @Selection struct Pair: Equatable {
    var payload: String?
    @Column("pair_source") var source: Int
  }
}

@Table struct Tally: Equatable {
  let id: Int
  var total: Int?
}

/// Money in whole cents.
enum Cents: SingleColumnCoding {
  static var storage: StorageClass { .integer }
  static func encode(_ value: Double, into row: inout RowEncoder) { row.append(Int64(value * 100)) }
  static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Double {
    Double(try Int64.decode(from: &row)) / 100
  }
}

@Table struct Fare: Equatable {
  let id: Int
  @Column(as: Cents.self) var price: Double
  @Column(as: Cents?.self) var tip: Double?
}

/// Numbers that are their own coding, as whole cents.
extension Decimal: ColumnValue {
  public static var storage: StorageClass { .integer }
  public static func encode(_ value: Decimal, into row: inout RowEncoder) {
    row.append((value * 100 as NSDecimalNumber).int64Value)
  }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Decimal {
    Decimal(try Int64.decode(from: &row)) / 100
  }
}

@Table struct Invoice: Equatable {
  let id: Int
  var price: Decimal
  var tip: Decimal?
}

/// Of `@Ephemeral var a, b: Int?` both have a type.
@Table struct Draw: Equatable {
  let id: Int
  var outcome: Either?
  @Ephemeral var first, second: Int?
}

@Selection enum Either: Equatable {
  case left(Int)
  case right(Int)
}

typealias Row = Int
typealias Pair = Outer.Pair

/// A public model with properties of types that are the module's alone, and of a type called `Model`.
@Table public struct Car: Equatable {
  public let id: Int
  public private(set) var name: String = Self.unnamed
  public var model: Model
  var level: Level?
  private var salt = 7

  public static let unnamed = "?"

  public init(id: Int, model: Model) {
    self.id = id
    self.model = model
  }
}

/// A public model that names what is the module's alone only where that is not seen.
@Table public struct Truck: Equatable {
  public let id: Int
  public var kind: Self.Kind = .small
  public var name: String = Self.unnamed
  public var load = 0

  static let unnamed = "?"
  public enum Kind: String, ColumnValue, Sendable { case small, large }
}

public enum Model: String, ColumnValue, Sendable { case coupe, van }
enum Level: Int, ColumnValue { case low, high }
