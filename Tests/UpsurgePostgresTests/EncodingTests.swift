import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("Values in binary", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct EncodingTests {
  /// What the encoder makes of one value: the bytes as hexadecimal digits, behind their length, or the fault.
  static func encoded(_ value: TestValue, _ column: BinaryColumn) -> (hex: String?, fault: EncodingFault?) {
    var buffer = RowBuffer(capacity: 64)
    let batch = Batch.of([[value]])
    let encoder = RowEncoder([RowEncoder.Field(column, slot: 0)], hasOrder: false)
    var records = 0..<1
    if let fault = encoder.encode(&records, of: batch, into: &buffer) { return (nil, fault.fault) }
    var reader = BinaryReader(buffer.bytes)
    #expect(reader.integer(Int16.self) == 1)
    let length = reader.integer(Int32.self)!
    if length == -1 { return (nil, nil) }
    let bytes = reader.bytes(Int(length))
    #expect(bytes != nil && reader.isAtEnd, "the length must be right: \(value)")
    return (bytes.map(hex), nil)
  }

  static func hex(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
  }

  /// The type of a table's column, read from the catalogue.
  private static func column(_ type: String, _ connection: PostgresConnection) throws -> BinaryColumn {
    try connection.run("DROP TABLE IF EXISTS t; CREATE TABLE t (v \(type))")
    return BinaryColumn(try #require(try PostgresTable.read(name: "t", connection)?.column("v")))
  }

  @Test("What is encoded is what the server makes of the text, and what is refused it refuses", arguments: TypeCase.all)
  func texts(of type: TypeCase) throws {
    let connection = try Server.database()
    let column = try Self.column(type.type, connection)
    // An assignment reads the text as a column does: varchar(3) is not cut.
    try connection.run(
      """
      SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD';
      CREATE FUNCTION sent(v text) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE x \(type.type); BEGIN x := v; RETURN 'ok ' || encode(\(type.send)(x), 'hex');
        EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$
      """)
    let seed = SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    let spellings = type.spellings(SeededGenerator.some(1500, most: 20_000), &generator)
    let values = spellings.map { "('" + $0.replacing("'", with: "''") + "')" }.joined(separator: ",")
    let answers = try connection.texts("SELECT sent(v) FROM (VALUES \(values)) AS s(v)").map { $0[0] ?? "" }
    var (encodedCount, undecidedCount) = (0, 0)
    for (text, answer) in zip(spellings, answers) {
      let (hex, fault) = Self.encoded(.text(text), column)
      if fault == .undecided {
        undecidedCount += 1
      } else if let hex {
        encodedCount += 1
        // A jsonb is sent as it was spelled, and comes back in the spelling of the server.
        if column.form == .jsonb { continue }
        #expect(answer == "ok \(hex)", "\(type.type) \(text.debugDescription), seed \(seed)")
      } else {
        #expect(!answer.hasPrefix("ok"), "\(type.type) \(text.debugDescription) is \(fault.map { "\($0)" } ?? ""), seed \(seed)")
        if answer.hasPrefix("ok") == false, column.form == .jsonb { #expect(answer == "22P05" || answer == "22P02") }
      }
    }
    #expect(encodedCount > 100, "\(type.type) \(encodedCount)")
    #expect(undecidedCount < spellings.count * 9 / 10, "\(type.type) \(undecidedCount)")
  }

  @Test("Cells that are no text")
  func others() throws {
    let connection = try Server.database()
    let cases: [(TestValue, String, String)] = [
      (.integer(7), "int2", "7::int2"), (.integer(-5), "int8", "-5::int8"), (.integer(3), "float8", "3::float8"),
      (.integer(3), "numeric", "3::numeric"), (.integer(1_234_567), "numeric(9,2)", "1234567::numeric(9,2)"),
      (.integer(12), "text", "'12'::text"), (.integer(1), "bool", "true"), (.real(0.5), "float4", "0.5::float4"),
      (.real(2.5), "numeric", "2.5::numeric"), (.real(1e20), "numeric", "1e+20::numeric"), (.real(5), "int4", "5"),
      (.real(0.25), "text", "'0.25'::text"), (.blob([0, 255]), "bytea", "'\\x00ff'::bytea"), (.blob([0x61]), "text", "'a'::text"),
      (.text("{\"a\": 1}"), "json", "'{\"a\": 1}'::json"), (.text("x"), "name", "'x'::text"), (.text("10.0.0.1"), "inet", "'10.0.0.1'::text"),
    ]
    for (value, type, sql) in cases {
      let column = try Self.column(type, connection)
      let result = try connection.run("SELECT \(sql)", [], wantsBinary: true)
      let bytes = try #require(result.bytes(0, 0)).assumingMemoryBound(to: UInt8.self)
      #expect(Self.encoded(value, column).hex == Self.hex(bytes), "\(value) \(type)")
    }
    #expect(Self.encoded(.null, BinaryColumn(.int4)) == (nil, nil) && Self.encoded(.absent, BinaryColumn(.text)) == (nil, nil))
  }

  @Test("What cannot be sent says why")
  func faults() {
    let cases: [(TestValue, BinaryColumn.Form, EncodingFault)] = [
      (.integer(70_000), .int2, .outOfRange), (.integer(1 << 40), .int4, .outOfRange), (.real(0.5), .int8, .syntax),
      (.real(1e300), .int8, .outOfRange), (.real(1e300), .float4, .outOfRange), (.real(1e-300), .float4, .outOfRange),
      (.integer(2), .bool, .syntax), (.real(1), .bool, .mismatch), (.integer(1), .bytea, .mismatch), (.blob([1]), .int4, .mismatch),
      (.text("a\0b"), .text, .nul), (.text("a\0b"), .json, .nul), (.text("[\"\\u0000\"]"), .jsonb, .nulEscape),
      (.blob([0xFF]), .text, .badText), (.text("abc"), .int8, .syntax), (.text(""), .date, .syntax),
      (.text("2024-02-30"), .date, .badDate), (.text("yesterday"), .date, .undecided), (.integer(20_240_101), .date, .undecided),
    ]
    for (value, form, fault) in cases { #expect(Self.encoded(value, BinaryColumn(form)).fault == fault, "\(value) \(form)") }
  }

  @Test("A record that cannot be sent leaves nothing, and the next ones follow")
  func rows() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE s (ord int, id int, name varchar(4), n numeric)")
    let batch = Batch.of([
      [.integer(1), .text("a"), .real(0.1)], [.text("x"), .text("b"), .null], [.integer(2), .text("toolong"), .null],
      [.integer(3), .absent, .text("1e3")],
    ])
    let fields = [
      RowEncoder.Field(BinaryColumn(.int4), slot: 0), RowEncoder.Field(BinaryColumn(type: PostgresType.varchar, modifier: 8), slot: 1),
      RowEncoder.Field(BinaryColumn(.numeric), slot: 2),
    ]
    let encoder = RowEncoder(fields, hasOrder: true)
    var buffer = RowBuffer(capacity: 64)
    buffer.appendCopyHeader()
    var faults: [String] = []
    var records = 0..<batch.recordCount
    while let fault = encoder.encode(&records, of: batch, order: 100, into: &buffer) {
      faults.append("\(records.lowerBound) \(fault.field) \(fault.fault)")
      records = records.dropFirst()
    }
    buffer.appendCopyTrailer()
    #expect(faults == ["1 0 syntax", "2 1 tooLong"] && records.isEmpty)
    _ = try connection.beginCopy("COPY s FROM STDIN (FORMAT binary)")
    try connection.put(buffer.bytes)
    #expect(try connection.endCopy().map(\.affectedCount) == [2])
    #expect(try connection.texts("SELECT * FROM s") == [["100", "1", "a", "0.1"], ["103", "3", nil, "1000"]])
  }

  @Test("Rows come back as cells, spelled as the server spells them")
  func decoding() throws {
    let connection = try Server.database()
    try connection.run(
      """
      SET TimeZone = 'UTC';
      CREATE TABLE t (id int8 PRIMARY KEY, i2 int2, i4 int4, f4 float4, f8 float8, n numeric, b bool, s text, c char(3), y bytea,
        u uuid, d date, h time, ts timestamp, tz timestamptz, j json, jb jsonb, a macaddr);
      INSERT INTO t (id) VALUES (0);
      INSERT INTO t SELECT g, g - 50, g * -1000, (random() - 0.5) * 1e3, exp(g) * (random() - 0.5),
        (random() - 0.5)::numeric * 10::numeric ^ (g % 40 - 20), g % 2 = 0, repeat('ä', g), g % 1000, decode(md5(g::text), 'hex'),
        md5(g::text)::uuid, date '2000-01-01' + (g - 50) * 20000, make_interval(secs => g * 860.123456)::time,
        timestamp '2000-01-01' + make_interval(days => (g - 50) * 19999, secs => g * 1.5),
        timestamptz '2000-01-01' + make_interval(secs => (g - 50) * 1e9 + 0.000001), json_build_object('a', g), jsonb_build_object('a', g), '08:00:2b:01:02:03'
      FROM generate_series(1, 99) g;
      INSERT INTO t (id, f4, f8, n, d, ts, tz) VALUES (100, 'NaN', '-inf', 'NaN', 'infinity', '-infinity', 'infinity'),
        (101, 0.1, 0.1, 0, '0044-03-15 BC', '0044-03-15 12:00 BC', '0001-01-01'), (102, 1e-45, 5e-324, 0.000, '4713-01-01 BC', NULL, NULL),
        (103, 1, 1, 12340000, NULL, NULL, NULL), (104, 1, 1, -0.00012340, NULL, NULL, NULL)
      """)
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let columns = table.columns.map { BinaryColumn($0) }
    let names = zip(table.columns, columns).map { $1.form == .castText ? "\($0.name)::text" : $0.name }.joined(separator: ", ")
    let expected = try connection.texts("SELECT * FROM t ORDER BY id")
    var decoder = BinaryDecoder(columns)
    var texts = RowBuffer(capacity: 64)
    let cells = UnsafeMutablePointer<Cell>.allocate(capacity: columns.count)
    defer { cells.deallocate() }
    var rows: [[Cell]] = []
    try connection.copyOut("COPY (SELECT \(names) FROM t ORDER BY id) TO STDOUT (FORMAT binary)") { message throws(PostgresFailure) in
      if try decoder.row(message, into: cells, &texts) { rows.append((0..<columns.count).map { cells[$0] }) }
      return true
    }
    #expect(rows.count == expected.count && rows.count == 105)
    let bytes = texts.bytes
    for (row, wanted) in zip(rows, expected) {
      for (index, (cell, want)) in zip(row, wanted).enumerated() {
        #expect(Self.matches(cell, want, columns[index].form, bytes), "\(table.columns[index].name): \(cell) is not \(want ?? "NULL")")
      }
    }
  }

  private static func matches(
    _ cell: Cell, _ want: String?, _ form: BinaryColumn.Form, _ texts: UnsafeRawBufferPointer
  ) -> Bool {
    switch cell.kind {
    case .null: return want == nil
    case .absent: return false
    case .integer:
      let value = Int64(bitPattern: cell.payload)
      return form == .bool ? want == (value == 1 ? "t" : "f") : want == "\(value)"
    case .real: return want.flatMap { Double($0) } == Double(bitPattern: cell.payload)
    case .text, .blob:
      let part = UnsafeRawBufferPointer(rebasing: texts[Int(cell.payload)..<Int(cell.payload) + Int(cell.byteCount)])
      if cell.kind == .blob { return want == "\\x" + hex(part.assumingMemoryBound(to: UInt8.self)) }
      return want == String(decoding: part, as: UTF8.self)
    }
  }

  @Test("Rows that are no rows are noticed")
  func damaged() {
    let header = CopyFrame.header
    let rows: [[UInt8]] = [[], [1, 2, 3], header + [0, 2, 0, 0], header + [0, 1, 0, 0, 0, 9, 1], header + [0, 1, 0, 0, 0, 2, 1, 1]]
    for row in rows {
      var decoder = BinaryDecoder([BinaryColumn(.int4)])
      var texts = RowBuffer()
      var cell = Cell.null
      let failure = Server.failure { try row.withUnsafeBytes { bytes in try decoder.row(bytes, into: &cell, &texts) } }
      #expect(failure?.kind == .other, "\(row)")
    }
  }
}
