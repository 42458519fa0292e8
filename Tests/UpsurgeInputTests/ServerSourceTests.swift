import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// Names of rows that servers hold.
@Suite("Names of rows of servers") struct ServerSourceTests {
  struct Name: Sendable, CustomTestStringConvertible {
    var text: String
    var url: String
    var rows: DatabaseSource.Rows
    var shown: String
    var testDescription: String { text }
  }

  @Test(
    "The rows are cut off, and the credentials are not shown",
    arguments: [
      Name(text: "postgres://h/d#t", url: "postgres://h/d", rows: .table("t"), shown: "postgres://h/d#t"),
      Name(
        text: "postgresql://u:p@h:5/d?sslmode=require#s.t", url: "postgresql://u:p@h:5/d?sslmode=require",
        rows: .table("s.t"),
        shown: "postgresql://u@h:5/d?sslmode=require#s.t"),
      Name(
        text: "postgres://h/d?query=SELECT a # b, '&x=1' FROM t", url: "postgres://h/d",
        rows: .query("SELECT a # b, '&x=1' FROM t"),
        shown: "postgres://h/d?query=SELECT a # b, '&x=1' FROM t"),
      Name(
        text: "postgres://h/d?user=u&password=p&query=SELECT 1", url: "postgres://h/d?user=u&password=p",
        rows: .query("SELECT 1"),
        shown: "postgres://h/d?user=u&password=***&query=SELECT 1"),
      Name(
        text: "postgres:///d?host=/tmp#t", url: "postgres:///d?host=/tmp", rows: .table("t"),
        shown: "postgres:///d?host=/tmp#t"),
      Name(
        text: "postgres://u:a#b@h/d#t", url: "postgres://u:a#b@h/d", rows: .table("t"),
        shown: "postgres://u@h/d#t"),
      Name(
        text: "postgres://u:1?query=2@h/d?query=SELECT 1", url: "postgres://u:1?query=2@h/d",
        rows: .query("SELECT 1"),
        shown: "postgres://u@h/d?query=SELECT 1"),
      Name(
        text: "postgres://h/d#a@b", url: "postgres://h/d", rows: .table("a@b"), shown: "postgres://h/d#a@b"),
      Name(
        text: "postgres://u:p@h1,h2:6/d#t", url: "postgres://u:p@h1,h2:6/d", rows: .table("t"),
        shown: "postgres://u@h1,h2:6/d#t"),
      Name(
        text: "postgres://u:p@h1,h2/d?target_session_attrs=read-write#t",
        url: "postgres://u:p@h1,h2/d?target_session_attrs=read-write", rows: .table("t"),
        shown: "postgres://u@h1,h2/d?target_session_attrs=read-write#t"),
    ])
  func names(name: Name) throws {
    let source = Source(name.text)
    #expect(source.kind == .database && source.isFeed && source.isDatabase)
    let rows = try #require(try source.server())
    #expect(rows.url == name.url && rows.rows == name.rows)
    #expect(source.name == name.shown && source.place == name.shown && "\(source)" == name.shown)
    #expect(SourceName.redacted(name.shown) == name.shown)
    #expect(source.opening.text == name.text && source.serverParts?.url == name.url)
    // Where it is stored, it is the same source.
    #expect(Source(source.name).place == source.place)
  }

  @Test(
    "What names no rows",
    arguments: [
      "postgres://u:p4ss@h/d", "postgres://u:p4ss@h/d#", "postgres://u:p4ss@h/d?query= ", "postgres://#t",
      "postgres://u:p4ss#x@h",
    ])
  func none(text: String) throws {
    let source = Source(text)
    #expect(source.kind == .database)
    let error = #expect(throws: UpsurgeError.self) { _ = try source.server() }
    #expect(error?.code == .usage && error?.message.contains("names no rows of a database") == true)
    #expect(error?.description.contains("p4ss") == false && !source.name.contains("p4ss"))
  }

  @Test(
    "A misspelled URL is refused without a word of its password",
    arguments: ["postgresql:/u:p4ss@h/d#t", "POSTGRES://u:p4ss@h/d#t", "Postgres:///u:p4ss@h/d?query=SELECT 1"])
  func misspelled(text: String) throws {
    let source = Source(text)
    #expect(!source.name.contains("p4ss") && !source.shown.contains("p4ss") && !"\(source)".contains("p4ss"))
    #expect(SourceName.redacted(source.name) == source.name)
    // Refused again where it was refused once.
    for _ in 0..<2 {
      let error = #expect(throws: UpsurgeError.self) { _ = try SourceList.expand([source]) }
      #expect(error?.code == .usage && error?.hint?.hasPrefix("give postgres://") == true)
      #expect(error?.description.contains("p4ss") == false)
    }
    #expect(ServerSource.misspelling("data/postgres:/x") == nil && ServerSource.misspelling("postgres://h/d#t") == nil)
  }

  @Test("Secrets of a job file are shown as it has them")
  func reworded() {
    let source = Source("postgres://u:hunter2@h/d#t", shown: "postgres://u:${env:PW}@h/d#t")
    #expect(source.shown == "postgres://u@h/d#t" || source.shown == "postgres://u:${env:PW}@h/d#t")
    let whole = Source("postgres://u:hunter2@h/d#t", shown: "${env:DB}#t")
    #expect(!whole.name.contains("hunter2") && whole.kind == .database)
    #expect(Source(whole.name).kind == .database)
  }

  @Test(
    "Other texts are no servers",
    arguments: ["postgres:/h/d#t", "mysql://h/d#t", "POSTGRES://h/d#t", "apostgres://h/d#t"])
  func others(text: String) { #expect(Source(text).kind == .file) }
}
