import UpsurgeRecords

extension StoreScenario {
  /// SQL that makes the table `t` and what belongs to it; empty where the load makes it.
  var postgresDDL: String {
    guard let demands else { return "" }
    var statements: [String] = []
    if let parents = demands.parents {
      statements.append(
        "CREATE TABLE parent (p bigint PRIMARY KEY); INSERT INTO parent SELECT generate_series(\(parents.lowerBound), \(parents.upperBound))"
      )
    }
    statements.append(
      "CREATE TABLE t (\(columnDefinitions(demands, integer: "bigint", real: "double precision")))")
    if let trigger = demands.trigger {
      let body =
        trigger == .skips
        ? "IF NEW.n = 7 THEN RETURN NULL; END IF;" : "IF NEW.n = 8 THEN RAISE EXCEPTION 'no'; END IF;"
      statements += [
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NEW; END $$",
        "CREATE TRIGGER f BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()",
      ]
    }
    return statements.joined(separator: "; ")
  }

  /// SQL that makes them in SQLite. The table is STRICT, as every one of PostgreSQL is, and no INTEGER PRIMARY KEY numbers its rows.
  var sqliteDDL: String {
    guard let demands else { return "" }
    var statements: [String] = []
    if let parents = demands.parents {
      let rows = parents.map { "(\($0))" }.joined(separator: ", ")
      statements.append("CREATE TABLE parent(p INTEGER PRIMARY KEY); INSERT INTO parent VALUES \(rows)")
    }
    statements.append("CREATE TABLE t(\(columnDefinitions(demands, integer: "INT", real: "REAL"))) STRICT")
    if let trigger = demands.trigger {
      let (test, action) =
        trigger == .skips ? ("NEW.n = 7", "RAISE(IGNORE)") : ("NEW.n = 8", "RAISE(ABORT, 'no')")
      statements += ["INSERT", "UPDATE"].map {
        "CREATE TRIGGER f_\($0) BEFORE \($0) ON t WHEN \(test) BEGIN SELECT \(action); END"
      }
    }
    return statements.joined(separator: "; ")
  }

  private func columnDefinitions(_ demands: Demands, integer: String, real: String) -> String {
    var columns = Self.columns.map { name in
      let isKey = key.contains(name)
      let type = isText(name) ? "TEXT" : name == "r" ? real : integer
      return "\(name) \(type)\(isKey ? " NOT NULL" : "")\(constraint(of: name, demands))"
    }
    if !key.isEmpty { columns.append("PRIMARY KEY (\(key.joined(separator: ", ")))") }
    return columns.joined(separator: ", ")
  }

  func isText(_ name: String) -> Bool { name == "k" ? hasTextKey : Self.textColumns.contains(name) }

  private func constraint(of name: String, _ demands: Demands) -> String {
    switch name {
    case "note": demands.needsNote ? " NOT NULL" : ""
    case "n": demands.limit.map { " CHECK (n < \($0))" } ?? ""
    case "u": demands.hasSecondKey ? " UNIQUE" : ""
    case "p": demands.parents == nil ? "" : " REFERENCES parent (p)"
    default: ""
    }
  }

  /// The table of the memory store; nil where the load makes it.
  var memoryTable: MemoryTable? {
    guard let demands else { return nil }
    let columns = Self.columns.map { name in
      MemoryTable.Column(name: name, affinity: isText(name) ? .text : name == "r" ? .real : .integer)
    }
    return MemoryTable(columns: columns, key: key, demands: demands)
  }
}
