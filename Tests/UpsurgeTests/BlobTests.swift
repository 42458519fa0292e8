import Foundation
import TestSupport
import Testing
import Upsurge

/// `--blob` and base64 objects, from input to table.
@Suite("BLOBs")
struct BlobTests {
  let scratch = Scratch()

  private func load(
    _ text: String, _ encoding: BlobEncoding? = nil, types: [String: String] = ["b": "BLOB"],
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    let source = scratch.write(text, to: "input")
    var options = LoadOptions()
    options.table.blobEncoding = encoding
    options.table.types = types
    options.rejects.onError = .reject
    options.rejects.path = scratch.file("rejects")
    change(&options)
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
      .run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @discardableResult
  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  /// `code column` of each reject.
  private func rejects() throws -> [String] {
    try String(decoding: readFile(scratch.file("rejects")), as: UTF8.self).split(separator: "\n").dropFirst()
      .map {
        let record = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        return "\(record["code"] ?? "") \(record["column"] ?? "")"
      }
  }

  @Test("Strings of a BLOB column become bytes; other columns and other values stay what they are")
  func strings() throws {
    let summary = load(
      #"{"b":"aGVsbG8=","t":"aGVsbG8="}"# + "\n" + #"{"b":"\u0061GVsbG8","t":"x\ty"}"# + "\n"
        + #"{"b":"","t":""}"# + "\n" + #"{"b":null,"t":null}"# + "\n" + #"{"b":7,"t":"\/"}"# + "\n"
        + #"{"b":"a\/+_"}"#,
      .base64)
    #expect(summary.exitCode == 0, "\(String(describing: summary.error))")
    #expect(
      try rows("SELECT b, t FROM t") == [
        "x'68656c6c6f'|'aGVsbG8='", "x'68656c6c6f'|'x\ty'", "x''|''", "NULL|NULL", "7|'/'", "x'6bffbf'|NULL",
      ])
  }

  @Test("Without the option text stays text; in a table that exists the declared type decides")
  func declaredType() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(b LONGBLOB, t TEXT, n, i INT)")
    let line = #"{"b":"6869","t":"6869","n":"6869","i":"x"}"# + "\n"
    _ = load(line, nil, types: [:])
    _ = load(line, .hex, types: [:])
    #expect(try rows("SELECT * FROM t") == ["'6869'|'6869'|'6869'|'x'", "x'6869'|'6869'|'6869'|'x'"])
  }

  @Test(
    "What cannot be decoded is a reject that names the column",
    arguments: [
      ("id,b\n1,aGk=\n2,a\n3,aGk\n", BlobEncoding.base64), ("id,b\n1,6869\n2,686\n3,\"6869\"\n", .hex),
    ])
  func bad(text: String, encoding: BlobEncoding) throws {
    let json = text.split(separator: "\n").dropFirst().map { line in
      let parts = line.split(separator: ",").map { $0.replacingOccurrences(of: "\"", with: "") }
      return #"{"id":\#(parts[0]),"b":"\#(parts[1])"}"#
    }.joined(separator: "\n")
    for input in [text, json] {
      try? FileManager.default.removeItem(atPath: scratch.file("a.db"))
      let summary = load(input, encoding)
      #expect(summary.exitCode == 2, "\(String(describing: summary.error))")
      #expect(try rejects() == ["bad-blob b"])
      #expect(try rows("SELECT * FROM t") == ["1|x'6869'", "3|x'6869'"])
    }
    let stopped = load(text, encoding) {
      $0.rejects.onError = .stop
      $0.rejects.path = nil
    }
    #expect(stopped.error?.description.contains("--blob") == true)
  }

  @Test("An object with $base64 is bytes in any column, whatever the order, also flattened and in arrays")
  func wrapper() throws {
    let text = """
      {"c":{"$base64":true,"encoded":"aGVsbG8="},"o":{"$base64":false,"encoded":"aGk="}}
      {"c": { "encoded" : "aGk" , "$base64" : true } ,"o":{"encoded":"x"}}
      {"c":{"$base64":true,"encoded":"\\u0061Gk="},"o":{"$base64":true,"encoded":"aGk=","more":1}}
      {"c":{"$base64":true,"encoded":"?"},"o":1}
      """
    let summary = load(text, types: [:])
    #expect(summary.exitCode == 2)
    #expect(try rejects() == ["bad-blob c"])
    #expect(try rows("SELECT type FROM pragma_table_info('t')") == ["'BLOB'", "'TEXT'"])
    #expect(
      try rows("SELECT * FROM t") == [
        "x'68656c6c6f'|'{\"$base64\":false,\"encoded\":\"aGk=\"}'", "x'6869'|'{\"encoded\":\"x\"}'",
        "x'6869'|'{\"$base64\":true,\"encoded\":\"aGk=\",\"more\":1}'",
      ])
    try rows("DROP TABLE t")
    _ = load(#"{"a":{"b":{"$base64":true,"encoded":"aGk="},"c":1}}"#, types: [:]) {
      $0.input.flattenSeparator = "_"
    }
    #expect(try rows("SELECT a_b, a_c FROM t") == ["x'6869'|1"])
    try rows("DROP TABLE t")
    _ = load(#"["a","b"]"# + "\n" + #"[{"$base64":true,"encoded":"aGk="},{"x":1}]"#, types: [:])
    #expect(try rows("SELECT * FROM t") == ["x'6869'|'{\"x\":1}'"])
  }

  @Test(
    "Files of any size are found beside the input, whatever the batches",
    arguments: [nil, 256] as [Int?])
  func files(arenaByteCount: Int?) throws {
    let sizes = [0, 1, 100, 300_000, 5, 3_000_000, 200_000, 7]
    var lines: [String] = []
    var table = "n,b,c\n"
    for (index, size) in sizes.enumerated() {
      let name = "file \(index)"
      _ = scratch.write((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }, to: name)
      let path = index % 2 == 0 ? name : scratch.file(name)
      lines.append(#"{"n":\#(index),"b":"\#(path)","c":"a\tb"}"#)
      table += "\(index),\(path),\"a\"\"b\"\n"
    }
    for input in [lines.joined(separator: "\n"), "[\n" + lines.joined(separator: ",\n") + "]", table] {
      try? FileManager.default.removeItem(atPath: scratch.file("a.db"))
      let summary = load(input, .file) {
        if let arenaByteCount {
          $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: arenaByteCount, cellCount: 64, recordCount: 8)
        }
      }
      #expect(summary.exitCode == 0, "\(String(describing: summary.error))")
      #expect(try rows("SELECT length(b) FROM t ORDER BY n") == sizes.map(String.init))
      #expect(try rows("SELECT count(*) FROM t WHERE c IN ('a\tb', 'a\"b')") == ["\(sizes.count)"])
      let expected = try Data(readFile(scratch.file("file 3"))).base64EncodedString()
      let database = Database(scratch.file("a.db"))
      let hex = try #require(try database.rows("SELECT hex(b) FROM t WHERE n = 3").first)
      #expect(
        hex == "'" + (Data(base64Encoded: expected) ?? Data()).map { String(format: "%02X", $0) }.joined()
          + "'")
    }
  }

  @Test("A file that is missing, no file, or too large is a reject; the neighbours are stored")
  func badFiles() throws {
    _ = scratch.write("ok", to: "ok")
    _ = scratch.write([UInt8](repeating: 1, count: 5 << 20), to: "large")
    let paths = ["ok", "missing", ".", "", "large", "ok"]
    let lines = paths.map { #"{"b":"\#($0)"}"# }.joined(separator: "\n")
    for input in [lines, "b,x\n" + paths.map { "\"\($0)\",1\n" }.joined()] {
      try? FileManager.default.removeItem(atPath: scratch.file("a.db"))
      let summary = load(input, .file) { $0.transaction.memory = .mebibytes(16) }
      #expect(summary.exitCode == 2, "\(String(describing: summary.error))")
      #expect(try rejects() == Array(repeating: "bad-blob b", count: 4))
      #expect(try rows("SELECT b FROM t") == ["x'6f6b'", "x'6f6b'"])
    }
  }

  @Test(
    "Surplus fields that take more room as JSON than as CSV end the run well, also at the end of the input")
  func surplus() throws {
    let text = "a,b\n1,2\n1" + String(repeating: ",", count: 200_000) + "\n"
    let summary = load(text, types: [:]) {
      $0.input.csv.ragged = .extra
      $0.input.csv.headerLineCount = 1
      $0.input.csv.delimiter = Array(",".utf8)
    }
    #expect(summary.exitCode == 0, "\(String(describing: summary.error))")
    #expect(try rows("SELECT json_array_length(extra) FROM t") == ["NULL", "199999"])
  }
}
