/// A model whose table is an FTS5 index (https://www.sqlite.org/fts5.html): all its columns are text. One of another table is
/// read only: rows are stored in that table.
///
///     @Table("posts_search") struct PostSearch: SearchTable { var title: String; var body: String }
///
///     try await database.createSearchTable(PostSearch.self, of: Post.self)
///     let hits = PostSearch.matching("swift NOT objective").order { _ in [PostSearch.rank.ascending()] }
///     let titles = try await database.fetchAll(hits.select { _ in PostSearch.highlight(\.title, "<b>", "</b>") })
public protocol SearchTable: Table {}
