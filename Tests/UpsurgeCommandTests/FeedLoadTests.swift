import Foundation
import TestSupport
import Testing
import Upsurge

private typealias Server = HTTPTestServer

/// Loads from URLs and commands.
@Suite("Loads from URLs and commands")
struct FeedLoadTests {
  let scratch = Scratch()

  /// Records with a key that comes twice now and then.
  static func csv(_ range: Range<Int>) -> [UInt8] {
    var text = "id,name,score\n"
    for id in range { text += "\(id % 40_000),\"name \(id % 97), x\",\(id % 13).5\n" }
    return Array(text.utf8)
  }

  private var path: String { scratch.file("a.db") }

  private func rows(_ name: String = "a.db") throws -> [String] {
    try Database(scratch.file(name)).rows("SELECT * FROM t ORDER BY id, name, score")
  }

  private func load(
    _ sources: [String], into name: String = "a.db", _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    change(&options)
    let summary = LoadJob(database: scratch.file(name), table: "t", sources: sources, options: options).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @Test("A compressed body with a key does what the file does, and once more changes nothing")
  func sameAsFile() throws {
    let body = Compressing.gzip(Self.csv(0..<60_000))
    let server = try Server { $0.index % 2 == 0 ? Server.whole(body) : Server.chunked(body, piece: 10_000) }
    let expected = load([scratch.write(body, to: "feed.csv.gz")], into: "file.db")
    let summary = load([server.url("/feed.csv.gz")])
    #expect(summary.exitCode == 0, "\(summary.error?.description ?? "")")
    #expect(summary.ledger == expected.ledger && summary.ledger.read == 60_000 && summary.ledger.updated > 0)
    #expect(try rows() == rows("file.db"))
    #expect(
      summary.metrics.bytesRead == UInt64(body.count) && summary.sources == [server.url("/feed.csv.gz")])
    let again = load([server.url("/feed.csv.gz")])
    let twice = load([scratch.file("feed.csv.gz")], into: "file.db")
    #expect(again.exitCode == 0 && again.ledger == twice.ledger)
    #expect(try rows() == rows("file.db"))
  }

  @Test("The charset of an answer is its encoding, unless the text is UTF-8 or an option says otherwise")
  func charset() throws {
    let text = "id,name\n1,Сосна\n2,Дуб\n"
    let utf8 = Array(text.utf8)
    let cyrillic = try #require(Iconv.encode(text, as: "KOI8-R"))
    let ascii = Array("id,name\n1,Oak\n".utf8)
    let western = try #require(Iconv.encode("id,name\n1,Chêne\n", as: "CP1252"))
    let koi8 = try #require(TextEncoding(name: "koi8-r"))
    typealias Answer = (type: String, body: [UInt8], option: TextEncoding, name: String?, remark: String?)
    let table: [Answer] = [
      ("text/csv; charset=koi8-r", cyrillic, .auto, "Сосна", nil),
      ("text/csv;header=present; Charset=\"KOI8-R\"", cyrillic, .auto, "Сосна", nil),
      ("text/csv; charset=koi8-r", utf8, .auto, "Сосна", "the server names the encoding koi8-r, but the text is utf-8"),
      ("text/csv; charset=koi8-r", [0xEF, 0xBB, 0xBF] + utf8, .auto, "Сосна", "but the text is utf-8"),
      ("text/csv; charset=iso-8859-1", utf8, .auto, "Сосна", "but the text is utf-8"),
      ("text/csv; charset=windows-1251", cyrillic, koi8, "Сосна", nil),
      ("text/csv; charset=iso-8859-1", western, .auto, "Chêne", nil),
      ("text/csv; charset=iso-8859-1", cyrillic, .auto, nil, nil), ("text/csv", cyrillic, .auto, nil, nil),
      ("text/csv; charset=x-nonsense", ascii, .auto, "Oak", "the server names the encoding x-nonsense, which is not known"),
      ("text/csv; charset=utf-8", ascii, .auto, "Oak", nil), ("text/csv; charset=", ascii, .auto, "Oak", nil),
    ]
    let server = try Server { request in
      let answer = table[Int(request.path.dropFirst()) ?? 0]
      return Server.whole(answer.body, headers: ["Content-Type: \(answer.type)"])
    }
    for (index, answer) in table.enumerated() {
      let notes = RunNotes()
      var options = LoadOptions()
      options.input.encoding = answer.option
      let job = LoadJob(
        database: scratch.file("\(index).db"), table: "t", sources: [server.url("/\(index)")], options: options)
      let summary = job.run(note: { notes.add($0.text) })
      guard let name = answer.name else {
        #expect(summary.exitCode == 65)
        #expect(summary.error?.message.hasSuffix("its encoding is not certain") == true)
        continue
      }
      #expect(summary.exitCode == 0, "\(index): \(summary.error?.description ?? "")")
      let names = try Database(scratch.file("\(index).db")).rows("SELECT name FROM t WHERE id = 1")
      #expect(names == ["'\(name)'"])
      let remarks = notes.all.filter { $0.contains("encoding") }
      #expect(remarks.contains { $0.contains(answer.remark ?? "\0") } == (answer.remark != nil), "\(index): \(remarks)")
      if answer.remark == nil { #expect(remarks.isEmpty, "\(index): \(remarks)") }
    }
  }

  @Test("A body that breaks and goes on loads as if it had not", arguments: ["gzip", "plain"])
  func broken(kind: String) throws {
    let body = kind == "gzip" ? Compressing.gzip(Self.csv(0..<60_000)) : Self.csv(0..<60_000)
    let server = try Server { request in
      let start = request.rangeStart ?? 0
      let whole =
        start > 0
        ? Server.rest(body, from: start, headers: ["ETag: \"a\""])
        : Server.whole(body, headers: ["ETag: \"a\""])
      return request.index < 2 ? [whole[0], .send(Array(body[start...].prefix(body.count / 3)))] : whole
    }
    let summary = load([server.url("/feed")])
    #expect(summary.exitCode == 0, "\(summary.error?.description ?? "")")
    #expect(server.requests.count == 3)
    _ = load([scratch.write(body, to: "feed")], into: "file.db")
    #expect(try rows() == rows("file.db"))
  }

  @Test(
    "A cut body ends the load as a cut file does: 65 without, 3 with committed work; the next run mends it")
  func cut() throws {
    let body = Self.csv(0..<90_000)
    #expect(body.count > 2_000_000)
    let server = try Server { request in
      switch request.index {
      case 0: [Server.head("200 OK", ["Content-Length: \(body.count)"]), .send(Array(body[..<1_000]))]
      case 1:
        [Server.head("200 OK", ["Content-Length: \(body.count)"]), .send(Array(body[..<(body.count - 10)]))]
      default: Server.whole(body)
      }
    }
    let early = load([server.url()])
    #expect(early.exitCode == 65)
    #expect(
      early.error?.message.hasPrefix(
        "\(server.url()) is cut off at byte 1000 of \(body.count): the server closed") == true,
      "\(early.error?.description ?? "")")
    #expect(!FileManager.default.fileExists(atPath: path))
    let late = load([server.url()]) { $0.transaction.commitEvery = .records(5_000) }
    #expect(late.exitCode == 3 && late.error?.code == .badInput)
    #expect(late.error?.message.contains("cut off at byte \(body.count - 10) of \(body.count)") == true)
    #expect(
      late.progress.committedCount >= 5_000 && late.progress.committedCount < 90_000
        && late.progress.committedCount % 5_000 == 0)
    #expect(!late.goesOn)
    let whole = load([server.url()])
    #expect(whole.exitCode == 0 && whole.ledger.read == 90_000, "\(whole.error?.description ?? "")")
    _ = load([scratch.write(body, to: "feed.csv")], into: "file.db")
    #expect(try rows() == rows("file.db"))
  }

  @Test("A URL cannot be gone on with: without a key that is refused, and listed as such")
  func notResumed() throws {
    let body = Self.csv(0..<90_000)
    let server = try Server { _ in
      [Server.head("200 OK", ["Content-Length: \(body.count)"]), .send(Array(body[..<(body.count - 10)]))]
    }
    let url = server.url().replacing("//", with: "//ann:hidden@")
    let stopped = try Command.run(["load", path, "t", url, "--commit-every", "5000"])
    #expect(stopped.exitCode == 3, "\(stopped.talk)")
    let shown = server.url().replacing("//", with: "//***@")
    #expect(
      stopped.talk.contains("\(shown) cannot be read twice, so this run cannot be resumed if it is killed"),
      "\(stopped.talk)")
    let listed = try Command.run(["runs", path])
    #expect(
      listed.output.contains("stopped part way, and cannot go on, as a URL or command cannot be read again"),
      "\(listed.output)")
    #expect(listed.output.contains("from \(shown)\n"))
    let refused = try Command.run(["load", path, "t", url, "--commit-every", "5000"])
    #expect(refused.exitCode == 4, "\(refused.talk)")
    #expect(
      refused.talk.contains("fix: a URL or a command may send something else now: delete the rows"),
      "\(refused.talk)")
    for said in [stopped.talk, listed.output, refused.talk] { #expect(!said.contains("hidden")) }
    let stored = try readFile(path)
    #expect(!String(decoding: stored, as: UTF8.self).contains("hidden"))
  }

  @Test("Passwords are nowhere: talk, summary, rejects, history, statements, changes")
  func secrets() throws {
    let server = try Server { request in
      request.headers["authorization"] == "Basic YW5uOmhpZGRlbg=="
        ? Server.whole(Array("id,n\n1,a\n2,x,y\n3,c\n".utf8)) : Server.status("401 Unauthorized")
    }
    let url = server.url("/feed.csv?token=hidden").replacing("//", with: "//ann:hidden@")
    let outcome = try Command.run([
      "load", path, "t", url, "--key", "id", "--on-error", "reject", "--rejects", scratch.file("rejects"),
      "--history",
      "--changes", scratch.file("changes"), "--emit-sql", scratch.file("sql"), "--summary", "-", "-v",
    ])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    let shown = "http://***@127.0.0.1:\(server.port)/feed.csv?token=***"
    #expect(outcome.talk.contains("\(shown): csv"), "\(outcome.talk)")
    #expect(
      outcome.output.contains("\"sources\":[\"\(shown)\"]") || outcome.output.contains("feed.csv?token=***"))
    let files = try ["rejects", "changes", "sql", "a.db"].map {
      String(decoding: try readFile(scratch.file($0)), as: UTF8.self)
    }
    for text in files + [outcome.talk, outcome.output, try Command.run(["runs", path, "--json"]).output] {
      #expect(!text.contains("hidden"), "\(text.prefix(3_000))")
    }
    #expect(files[0].contains("feed.csv?token=***") && files[0].contains("\"record\":2"))
  }

  @Test("Files, URLs and commands in one load; what is not there is not readable input")
  func mixed() throws {
    let server = try Server {
      $0.path == "/a.csv" ? Server.whole(Self.csv(10..<20)) : Server.status("404 Not Found")
    }
    let file = scratch.write(Self.csv(0..<10), to: "0.csv")
    let summary = load([file, server.url("/a.csv"), "exec:cat \(file) | sed -E 's/^([0-9])/9\\1/'"])
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 30, "\(summary.error?.description ?? "")")
    let missing = load([server.url("/b.csv")], into: "b.db")
    #expect(missing.exitCode == 66 && missing.error?.message.contains("404 Not Found") == true)
    let unknown = load(["ftp://127.0.0.1/a.csv"], into: "b.db")
    #expect(
      unknown.exitCode == 66 && unknown.error?.message.contains("only http:// and https:// are") == true)
    let failed = load(["exec:cat \(file); exit 3"], into: "b.db")
    #expect(failed.exitCode == 65 && failed.error?.message.contains("failed with exit status 3") == true)
    let full = load([server.url("/a.csv")], into: "b.db") { $0.table.inference = .full }
    #expect(full.exitCode == 0 && full.ledger.inserted == 10)
    let script = load([file], into: "c.db") { $0.table.initPath = "exec:true" }
    #expect(script.exitCode == 64)
    for name in ["a.db", "b.db"] {
      #expect(try Database(scratch.file(name)).rows("PRAGMA integrity_check") == ["'ok'"])
    }
  }

  @Test("A body whose end proves nothing is said to be one", arguments: ["csv", "json", "gzip", "length"])
  func unproven(kind: String) throws {
    let text = Array((kind == "json" ? "[{\"id\": 1}]" : "id,n\n1,x\n").utf8)
    let server = try Server { _ in
      switch kind {
      case "length": Server.whole(text)
      case "gzip": [Server.head("200 OK"), .send(Compressing.gzip(text))]
      default: [Server.head("200 OK"), .send(text)]
      }
    }
    let notes = RunNotes()
    let job = LoadJob(database: path, table: "t", sources: [server.url()])
    #expect(job.run(note: { notes.add($0.text) }).exitCode == 0)
    let words =
      "\(server.url()): the server sends neither its length nor a mark at its end, so a broken connection may "
      + "look like its end"
    #expect(notes.all.contains(words) == (kind == "csv"), "\(notes.all)")
  }

  @Test("Types from all of a stream are refused, as it is read once")
  func inferFull() throws {
    let server = try Server { _ in Server.whole(Self.csv(0..<60_000)) }
    let summary = load([server.url()]) { $0.table.inference = .full }
    #expect(summary.exitCode == 64)
    #expect(
      summary.error?.message
        == "\(server.url()) cannot be read twice, and that is needed: --infer full reads the input twice")
    // A small one behind the first would be gone as well, without a word.
    let file = scratch.write(Self.csv(0..<3), to: "0.csv")
    let outcome = try Command.run(
      ["load", path, "t", file, "-", "--key", "id", "--infer", "full"],
      script: #"printf 'id,name,score\n7,x,1\n' | "$0" "$@""#)
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("- cannot be read twice, and that is needed: --infer full"), "\(outcome.talk)")
  }

  @Test(
    "A signal ends a load that waits for a server, and one that waits for a command",
    arguments: ["http", "exec"])
  func interrupted(kind: String) throws {
    let server = try Server { _ in
      [Server.head("200 OK", ["Content-Length: 100000000"]), .send(Self.csv(0..<60_000)), .hold]
    }
    let file = scratch.write(Self.csv(0..<60_000), to: "a.csv")
    let name = kind == "http" ? server.url() : "exec:cat \(file); sleep 100"
    let child = try Command.start(["load", path, "t", name, "--key", "id"])
    child.waitForHandlers()
    // What has come is committed while nothing else does.
    var count = 0
    for _ in 0..<3_000 where count == 0 {
      usleep(20_000)
      if FileManager.default.fileExists(atPath: path) {
        count = (try? Database(path).rows("SELECT id FROM t").count) ?? 0
      }
    }
    #expect(count > 0)
    let start = Date()
    child.send(signal: 15)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 143, "\(outcome.talk)")
    #expect(Date().timeIntervalSince(start) < 20)
  }

  /// `UPSURGE_FEED_MIB=10240` streams as much as that.
  private static let mebibytes = getenv("UPSURGE_FEED_MIB").flatMap { Int(String(cString: $0)) } ?? 1_024

  @Test(
    "A large body takes no more memory than a small one",
    arguments: [("load", "length"), ("mirror", "length"), ("mirror", "chunked"), ("load", "exec")])
  func boundsMemory(command: String, kind: String) throws {
    // One record on each side of lines that are only read.
    let (first, last) = (Array("id,n\n1,a\n".utf8), Array("2,b\n".utf8))
    let line = Array("#".utf8) + [UInt8](repeating: 0x78, count: (1 << 20) - 2) + Array("\n".utf8)
    var peaks: [Int] = []
    for count in [16, Self.mebibytes] {
      let server = try Server { _ in
        if kind == "length" {
          let total = first.count + count * line.count + last.count
          return [
            Server.head("200 OK", ["Content-Length: \(total)"]), .send(first), .rep(line, times: count),
            .send(last),
          ]
        }
        func chunk(_ bytes: [UInt8]) -> [UInt8] {
          Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        return [
          Server.head("200 OK", ["Transfer-Encoding: chunked"]), .send(chunk(first)),
          .rep(chunk(line), times: count), .send(chunk(last) + Array("0\r\n\r\n".utf8)),
        ]
      }
      let piece = scratch.write(line, to: "line")
      let source =
        kind == "exec"
        ? "exec:echo id,n; echo 1,a; for i in $(seq \(count)); do cat '\(piece)'; done; echo 2,b"
        : server.url()
      let database = scratch.file("\(count).db")
      let words =
        command == "load"
        ? ["load", database, "t", source]
        : ["mirror", database, "--table", "t", "--source", source, "--key", "id", "--sweep", "hard"]
      let outcome = try Command.start(words + ["--comment", "#", "--summary", "-"]).finish(seconds: 1_200)
      var summary = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
      if let tables = summary?["tables"] as? [String: [String: Any]] {
        summary = (tables["t"]?["loads"] as? [[String: Any]])?.first
      }
      let read = try #require(summary?["bytes_read"] as? Int, "\(outcome.talk)")
      #expect(outcome.exitCode == 0 && read == first.count + count * line.count + last.count)
      #expect(try Database(database).rows("SELECT * FROM t") == ["1|'a'", "2|'b'"])
      peaks.append(try #require(summary?["peak_memory_bytes"] as? Int))
    }
    #expect(peaks[1] <= peaks[0] + 24 << 20, "\(peaks)")
  }

  @Test("inspect reads them, too")
  func inspects() throws {
    let server = try Server { _ in Server.whole(Self.csv(0..<10)) }
    let shown = try Command.run(["inspect", server.url()])
    #expect(
      shown.exitCode == 0 && shown.output.hasPrefix("\(server.url()): csv"), "\(shown.output)\(shown.talk)")
    let checked = try Command.run(["inspect", "--check", "exec:printf 'a,b\\n1,2\\n'"])
    #expect(checked.exitCode == 0 && checked.output.contains("1 record, 0 with errors"), "\(checked.output)")
  }
}
