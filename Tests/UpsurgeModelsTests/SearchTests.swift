import TestSupport
import Testing

@testable import UpsurgeModels

@Table struct Post: Equatable {
  let id: Int
  var title: String
  var body: String
  var author: String?
}

@Table("posts_search") struct PostSearch: SearchTable, Equatable {
  var title: String
  var body: String
}

/// FTS5 through models.
@Suite("Models: full-text search") struct SearchTests {
  let scratch = Scratch()

  private func open() async throws -> UpsurgeModels.Database {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Post.self)
    try await database.insert([
      Post(id: 1, title: "Swift and SQLite", body: "how rows get into tables fast"),
      Post(id: 2, title: "Tables of wood", body: "swift hands, slow glue"),
    ])
    try await database.createSearchTable(PostSearch.self, of: Post.self, tokenizer: "porter unicode61")
    return database
  }

  @Test("Rows are found, ordered, highlighted, and cut out") func reads() async throws {
    let database = try await open()
    let found = try await database.fetchAll(
      PostSearch.matching("swift").order { _ in [PostSearch.bm25([\.title: 10]).ascending()] })
    #expect(found.map(\.title) == ["Swift and SQLite", "Tables of wood"])
    let back = try await database.fetchAll(
      PostSearch.matching("swift").order { _ in [PostSearch.bm25([\.body: 10]).ascending()] })
    #expect(back.map(\.title) == ["Tables of wood", "Swift and SQLite"])
    #expect(try await database.count(PostSearch.matching("table")) == 2)
    #expect(try await database.count(PostSearch.where { _ in PostSearch.match(\.title, "table") }) == 1)
    let marked = PostSearch.matching("row").order { _ in [PostSearch.rank.ascending()] }
    #expect(
      try await database.fetchAll(marked.select { _ in PostSearch.highlight(\.body, "<b>", "</b>") })
        == ["how <b>rows</b> get into tables fast"])
    #expect(
      try await database.fetchAll(
        marked.select { _ in PostSearch.snippet(\.body, "[", "]", ellipsis: "~", tokenCount: 3) })
        == ["how [rows] get~"])
  }

  @Test("The index follows bulk writes") func follows() async throws {
    let database = try await open()
    try await database.upsert((1...2_000).map { Post(id: $0, title: "n\($0)", body: "word\($0 % 10)") })
    #expect(try await database.count(PostSearch.matching("word3")) == 200)
    #expect(try await database.count(PostSearch.matching("swift")) == 0)
    try await database.delete((1...1_000).map { Post(id: $0, title: "", body: "") })
    #expect(try await database.count(PostSearch.matching("word3")) == 100)
    try await database.execute("INSERT INTO posts_search(posts_search, rank) VALUES ('integrity-check', 1)")
  }

  @Test(
    "What people type is never a fault of syntax",
    arguments: [
      "", " ", "\"", "a\"b", "NOT", "AND OR", "*", "a*", "(", "col:x", "^x", "x\0y", "-", "😀", "'", "a + b",
      "NEAR(", "a\"\u{301}b", "\u{0}\u{301}",
    ])
  func typed(_ text: String) async throws {
    let database = try await open()
    for pattern in [
      SearchPattern.allWords(text), .anyWord(text), .phrase(text), .prefix(text),
    ] {
      _ = try await database.count(PostSearch.matching(pattern))
    }
  }

  @Test("Words, phrases and beginnings") func patterns() async throws {
    let database = try await open()
    #expect(try await database.count(PostSearch.matching(.allWords("swift sqlite"))) == 1)
    #expect(try await database.count(PostSearch.matching(.anyWord("sqlite glue"))) == 2)
    #expect(try await database.count(PostSearch.matching(.phrase("tables of"))) == 1)
    #expect(try await database.count(PostSearch.matching(.prefix("slow gl"))) == 1)
  }

  @Table("posts_bad") struct BadSearch: SearchTable { var headline: String }

  @Test("An index is made as one, and is what its model says") func check() async throws {
    let database = try await open()
    try await database.checkTable(PostSearch.self)
    #expect(try await database.differences(of: BadSearch.self).map(\.text) == ["there is no such table"])
    try await database.execute("CREATE VIRTUAL TABLE posts_bad USING fts5(title)")
    let differences = try await database.differences(of: BadSearch.self)
    #expect(differences.count == 1 && differences.first?.column == "headline", "\(differences)")
    await #expect(throws: UpsurgeError.self) { try await database.createTable(PostSearch.self) }
  }

  @Test("An index of a table is not written itself, which would damage it; one with text of its own is")
  func writes() async throws {
    let database = try await open()
    let rows = [PostSearch(title: "ghost", body: "a")]
    let calls: [@Sendable () async throws -> Void] = [
      { try await database.insert(rows) }, { try await database.insertOrIgnore(rows, on: \.title) },
      { try await database.upsert(rows, on: \.title) }, { try await database.update(rows, on: \.title) },
      { try await database.delete(rows, on: \.title) },
      { _ = try await database.mirror(rows, on: \.title, sweeping: .none) },
      { _ = try await database.insert(rows, returning: \.title).all() },
    ]
    for call in calls {
      let error = await #expect(throws: UpsurgeError.self) { try await call() }
      #expect(
        error?.message == "posts_search is an index of the text in posts, and has no rows of its own",
        "\(error?.description ?? "")")
    }
    try await database.execute("INSERT INTO posts_search(posts_search) VALUES ('integrity-check')")
    try await database.execute("CREATE VIRTUAL TABLE posts_bad USING fts5(headline)")
    #expect(try await database.insert([BadSearch(headline: "ghost")]).inserted == 1)
    #expect(try await database.count(BadSearch.matching("ghost")) == 1)
    // A program may keep an index right itself.
    try await database.execute("CREATE VIRTUAL TABLE posts_own USING fts5(title, content='posts')")
    #expect(try await database.insert([OwnSearch(title: "ghost")]).inserted == 1)
    // What another program has damaged is made anew, and is no reason to restore a backup.
    try await database.execute("INSERT INTO posts_search(rowid, title, body) VALUES (99, 'ghost', '')")
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(PostSearch.matching("ghost"))
    }
    #expect(error?.hint?.contains("'rebuild'") == true, "\(error?.description ?? "")")
  }

  @Table("posts_own") struct OwnSearch: SearchTable { var title: String }

  @Table("posts_authors") struct AuthorSearch: SearchTable { var author: String }

  @Test("An index that could not read what is NULL in its table is not made") func optionals() async throws {
    let database = try await open()
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.createSearchTable(AuthorSearch.self, of: Post.self)
    }
    #expect(error?.message == "Post may have NULL in the column author, which AuthorSearch could not read")
  }

  @Test("The rank within a limit, and a match where SQLite takes none") func ranks() async throws {
    let database = try await open()
    let hits = PostSearch.matching("swift").order { _ in [PostSearch.rank.ascending()] }
    let ranks = try await database.fetchAll(hits.select { _ in PostSearch.rank })
    #expect(ranks.count > 1)
    #expect(
      try await database.fetchOne(hits.limit(1).select { _ in PostSearch.rank.maximum() }) == ranks.first)
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(PostSearch.where { PostSearch.match("swift") || $0.title == "x" })
    }
    #expect(error?.hint?.contains("OR") == true, "\(error?.description ?? "")")
    for pattern in ["\"abc", "a-b", "a AND", "*"] {
      let query = PostSearch.matching(SearchPattern(pattern))
      for read in [{ _ = try await database.fetchAll(query) }, { _ = try await database.count(query) }]
        as [@Sendable () async throws -> Void]
      {
        let error = await #expect(throws: UpsurgeError.self) { try await read() }
        #expect(error?.hint?.contains("allWords") == true, "\(error?.description ?? "")")
      }
      #expect(try await database.count(PostSearch.matching(.allWords(pattern))) >= 0)
    }
  }

  @Test("A column that the table does not have is told") func missing() async throws {
    let database = try await open()
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.createSearchTable(BadSearch.self, of: Post.self)
    }
    #expect(error?.message == "BadSearch has a column headline, which Post does not have")
  }
}
