import TestSupport

extension SeededGenerator {
  /// True once in `one` times.
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func one<Element>(of list: [Element]) -> Element {
    list[Int.random(in: 0..<list.count, using: &self)]
  }
  /// So many of the list, in any order.
  mutating func some<Element>(_ count: Int, of list: [Element]) -> [Element] {
    Array(list.shuffled(using: &self).prefix(count))
  }
}

extension ModelTable {
  init(random: inout SeededGenerator) {
    isStrict = random.chance(4)
    let names = (0..<random.number(2...6)).map { "c\($0)" }
    let types =
      isStrict
      ? ["INTEGER", "INT", "REAL", "TEXT", "TEXT", "ANY", "BLOB"]
      : ["INTEGER", "INT", "REAL", "TEXT", "TEXT", "NUMERIC", "", "BLOB"]
    columns = names.map { name in
      var column = Column(name: name, type: random.one(of: types))
      if random.chance(5) { column.collation = random.one(of: ["NOCASE", "RTRIM"]) }
      return column
    }
    addPrimaryKey(&random)
    addOtherKeys(&random)
    for index in columns.indices { addConstraints(index, &random) }
    if random.chance(6) {
      columns.insert(
        Column(name: "g", type: isStrict ? "ANY" : "", generated: "c1 || '!'"),
        at: random.number(0...columns.count))
    }
    if random.chance(3) { extras.append("CREATE INDEX plain ON t(c1);") }
    if random.chance(5) { addTriggers(&random) }
    if random.chance(8) { addChild(&random) }
  }

  private mutating func addPrimaryKey(_ random: inout SeededGenerator) {
    let kinds = ["none", "rowid", "rowid", "autoincrement", "single", "compound", "without rowid"]
    let kind = random.one(of: kinds)
    var count = 1
    switch kind {
    case "none": return
    case "compound", "without rowid": count = random.number(1...min(3, columns.count - 1))
    default: break
    }
    let chosen = random.some(count, of: Array(columns.indices))
    if kind == "rowid" || kind == "autoincrement" {
      columns[chosen[0]] = Column(name: columns[chosen[0]].name, type: "INTEGER")
    }
    isAutoincrement = kind == "autoincrement"
    isWithoutRowid = kind == "without rowid"
    keys.append(Key(isPrimary: true, parts: chosen.map { part($0, &random, mayDiffer: false) }))
  }

  private func part(_ index: Int, _ random: inout SeededGenerator, mayDiffer: Bool) -> Key.Part {
    var collation = columns[index].collation
    if mayDiffer && random.chance(4) { collation = random.one(of: ["NOCASE", "BINARY"]) }
    return Key.Part(column: columns[index].name, collation: collation)
  }

  private mutating func addOtherKeys(_ random: inout SeededGenerator) {
    // An upsert that finds its row by another key than the number leaves a gap in SQLite's AUTOINCREMENT.
    if isAutoincrement { return }
    if random.chance(4) {
      let chosen = random.some(random.number(1...2), of: Array(columns.indices))
      addKey(Key(parts: chosen.map { part($0, &random, mayDiffer: false) }))
    }
    if random.chance(4) {
      let chosen = random.some(random.number(1...2), of: Array(columns.indices))
      addKey(Key(name: "u1", parts: chosen.map { part($0, &random, mayDiffer: true) }))
    }
    if random.chance(5) {
      // What number a row will get is not known beforehand.
      let other = random.one(of: columns.filter { $0.name != rowidColumn })
      let literals = other.type == "TEXT" ? ("'t5'", "'t1'") : ("5", "1")
      let predicate = random.one(of: [
        "@.\(other.name) > \(literals.0)", "@.\(other.name) IS NOT NULL", "@.\(other.name) = \(literals.1)",
      ])
      let chosen = random.some(random.number(1...2), of: Array(columns.indices))
      addKey(
        Key(name: "u2", parts: chosen.map { part($0, &random, mayDiffer: false) }, predicate: predicate))
    }
    if random.chance(6) {
      let column = random.one(of: columns)
      addKey(
        Key(
          name: "u3",
          parts: [.init(column: column.name, expression: "lower(@.\(column.name))", collation: "BINARY")]))
    }
  }

  /// Two keys on the same columns would leave open which one is meant.
  private mutating func addKey(_ key: Key) {
    if keys.contains(where: { Set($0.columns) == Set(key.columns) }) { return }
    keys.append(key)
  }

  private mutating func addConstraints(_ index: Int, _ random: inout SeededGenerator) {
    let name = columns[index].name
    if name == rowidColumn { return }
    let isInKey = keys.contains { $0.columns.contains(name) }
    let type = columns[index].type
    let value = isStrict && type == "BLOB" ? "x'61'" : type == "TEXT" ? "'dd'" : type == "REAL" ? "4.0" : "4"
    if random.chance(5) { columns[index].notNull = .yes }
    if !isInKey && random.chance(4) { columns[index].defaultSQL = value }
    let isInExpression = keys.contains { $0.parts.contains { $0.expression != nil && $0.column == name } }
    if !isInExpression && random.chance(12) {
      columns[index].notNull = .replace
      columns[index].defaultSQL = value
    }
    if isInKey { return }
    if random.chance(8) { columns[index].check = "\(name) <> 3" }
    if random.chance(12) { columns[index].isForeign = true }
  }

  /// Triggers write down what they saw; some refuse or ignore a row. None is BEFORE INSERT: an upsert that updates
  /// fires those.
  private mutating func addTriggers(_ random: inout SeededGenerator) {
    var refusal = ""
    if random.chance(2) { refusal = " SELECT RAISE(ABORT, 'no fours') WHERE new.c1 = 4;" }
    extras.append(
      "CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO log VALUES('i', new.c0, new.c1);\(refusal) END;")
    extras.append(
      "CREATE TRIGGER au AFTER UPDATE ON t BEGIN INSERT INTO log VALUES('o', old.c0, old.c1), ('n', new.c0, new.c1);"
        + "\(refusal) END;")
    extras.append(
      "CREATE TRIGGER ad AFTER DELETE ON t BEGIN INSERT INTO log VALUES('d', old.c0, old.c1); END;")
    if random.chance(2) {
      extras.append(
        "CREATE TRIGGER bu BEFORE UPDATE ON t WHEN new.c1 = 5 BEGIN SELECT RAISE(IGNORE); END;")
      extras.append(
        "CREATE TRIGGER bd BEFORE DELETE ON t WHEN old.c1 = 6 BEGIN SELECT RAISE(IGNORE); END;")
    }
  }

  /// Rows that refer to the table's own.
  private mutating func addChild(_ random: inout SeededGenerator) {
    guard let key = keys.first(where: { $0.isPrimary && $0.parts.count == 1 }) else { return }
    let action = random.one(of: ["CASCADE", "RESTRICT", "SET NULL"])
    extras.append(
      "CREATE TABLE child(n, r REFERENCES t(\(key.columns[0])) ON DELETE \(action));")
  }
}
