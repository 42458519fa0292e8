#if GRDB
  import Foundation
  import GRDB
  import UpsurgeGRDB

  @Table struct Team: Equatable {
    let id: Int
    var name: String
  }

  @Table struct Player: Equatable, Codable {
    let id: Int
    var name: String
    @Column("high_score") var score = 0
    @Column("team_id") var teamID: Int?
  }

  @Table("players_search") struct PlayerSearch: SearchTable { var name: String }

  /// A model whose key GRDB would store as a blob, and whose times it would store as text.
  @Table struct Visit: Equatable, Identifiable, Codable {
    let id: UUID
    @Column(as: UUID.Bytes.self) var session: UUID
    @Column(as: Date.UnixTime.self) var startedAt: Date
    var endedAt: Date?
    var total: Int?
  }

  /// A model that is stored otherwise than Codable would.
  @Table struct Event: Equatable, Codable {
    let id: Int
    @Column(as: JSON<[String]>.self) var tags: [String]
  }

  /// A model with values that its column may not be able to express.
  @Table struct Level: Equatable, Codable {
    let id: Int
    var note = ""
    @Column(as: JSON<[Double]>.self) var values: [Double]
  }
#endif
