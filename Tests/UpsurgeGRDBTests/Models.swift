// In a file of its own: `Table` and `Database` are names of GRDB's, too.
#if GRDB
  import UpsurgeModels

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

  /// A model that is stored otherwise than Codable would.
  @Table struct Event: Equatable, Codable {
    let id: Int
    @Column(as: JSON<[String]>.self) var tags: [String]
  }
#endif
