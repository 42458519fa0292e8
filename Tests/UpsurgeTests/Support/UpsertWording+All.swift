import Upsurge

extension UpsertWording {
  static let all: [UpsertWording] = anyKey + merges + keys

  // MARK: - No target named: every key of the table

  private static let anyKey = [
    UpsertWording(
      id: "g01", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name", "score"], records: #"[null,"Arthur",1000]"#),
    UpsertWording(
      id: "g02", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name", "score"], records: #"[null,"Arthur",100]"#),
    UpsertWording(
      id: "g03", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name", "score"], records: #"[1,"Craig",500]"#),
    UpsertWording(
      id: "g04", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name", "score"], records: #"[1,"Arthur",200]"#),
    UpsertWording(
      id: "g05", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name", "score"], records: #"[1,"Barbara",300]"#, ending: .rejected(.unique)),
    UpsertWording(
      id: "g09", table: "player", rules: .init(target: .any), arguments: ["--any-key"],
      columns: ["id", "name"], records: #"[null,"Arthur"],[null,"Bob"]"#),
    UpsertWording(
      id: "s05", table: "reminders",
      rules: .init(target: .any, merge: .newer("updatedAt", isStrict: true)),
      arguments: ["--any-key", "--merge", "newer-strict:updatedAt"], columns: ["id", "title", "updatedAt"],
      records: #"[1,"newer","2041-01-01"],[2,"older","2039-01-01"]"#),
    UpsertWording(
      id: "p11", table: "player", rules: .init(target: .firstOf([.columns(["id"]), .columns(["name"])])),
      arguments: ["--any-key"], columns: ["id", "name", "score"], records: #"[99,"Arthur",5]"#),
  ]

  // MARK: - How the row changes

  private static let merges = [
    // A counter that a record does not mention stays as it is; so each record says what it adds.
    UpsertWording(
      id: "g06", table: "vocabulary",
      rules: .init(
        target: .columns(["word"]),
        merge: .setting(["count": .expression("count + 1"), "isTainted": .keep])),
      arguments: ["--key", "word", "--set", "count=count + 1", "--set", "isTainted=keep"],
      columns: ["word", "kind", "isTainted", "count"], records: #"["jovial","adjective",0,1]"#),
    UpsertWording(
      id: "g07", table: "vocabulary", rules: .init(target: .columns(["word"]), mode: .ignore),
      arguments: ["--key", "word", "--mode", "ignore"], columns: ["word", "kind", "isTainted"],
      records: #"["jovial","ignored",0]"#),
    UpsertWording(
      id: "g08", table: "phonebook", rules: .init(target: .columns(["name"])), arguments: ["--key", "name"],
      columns: ["name", "phonenumber"], records: #"["Alice","704-555-1212"]"#),
    UpsertWording(
      id: "g10", table: "phonebook2",
      rules: .init(target: .columns(["name"]), merge: .newer("validDate", isStrict: true)),
      arguments: ["--key", "name", "--merge", "newer-strict:validDate"],
      columns: ["name", "phonenumber", "validDate"],
      records: #"["Alice","704-555-1212","2018-05-08"],["Bob","x","2018-05-08"]"#),
    UpsertWording(
      id: "s02", table: "lists",
      rules: .init(target: .columns(["title"]), merge: .setting(["color": .expression("65280")])),
      arguments: ["--key", "title", "--set", "color=65280"], columns: ["id", "title", "color"],
      records: #"[null,"Personal",0]"#),
    UpsertWording(
      id: "s03", table: "rt", rules: .init(target: .columns(["r", "g"]), mode: .ignore),
      arguments: ["--key", "r,g", "--mode", "ignore"], columns: ["r", "g"], records: "[1,3],[1,4]"),
    UpsertWording(
      id: "s04", table: "reminders", rules: .init(target: .columns(["id"])), arguments: ["--key", "id"],
      columns: ["id", "title", "notes", "done", "flagged", "updatedAt"],
      records: #"[1,"Cash check","",0,0,"2040-02-14"]"#),
    UpsertWording(
      id: "s06", table: "reminders",
      rules: .init(target: .columns(["id"]), merge: .onlyIf("reminders.flagged")),
      arguments: ["--key", "id", "--update-if", "reminders.flagged"], columns: ["id", "done"],
      records: "[1,1],[2,1]"),
    UpsertWording(
      id: "s07", table: "tags",
      rules: .init(
        target: .columns(["title"]), merge: .setting(["title": .expression("excluded.title||'-copy'")])),
      arguments: ["--key", "title", "--set", "title=excluded.title||'-copy'"], columns: ["title"],
      records: #"["car"],["new"]"#),
    UpsertWording(
      id: "s08", table: "reminders",
      rules: .init(
        target: .columns(["id"]), merge: .setting(["title": .expression("reminders.title||' Copy'")])),
      arguments: ["--key", "id", "--set", "title=reminders.title||' Copy'"], columns: ["id", "title"],
      records: #"[1,"x"]"#),
    UpsertWording(
      id: "p07", table: "w", rules: .init(target: .columns(["k"]), merge: .setting(["c": .sum])),
      arguments: ["--key", "k", "--set", "c=sum"], columns: ["k", "c"],
      records: #"["x",1],["x",1],["y",1]"#),
  ]

  // MARK: - Which row is meant

  private static let account = ["email", "active", "n"]

  private static let keys = [
    UpsertWording(
      id: "s01", table: "lists", rules: .init(target: .columns(["id"])), arguments: ["--key", "id"],
      columns: ["id", "title"], records: #"[null,"Personal"]"#, ending: .rejected(.unique)),
    UpsertWording(
      id: "p01", table: "acct", rules: .init(target: .columns(["email"], where: "active=1")),
      arguments: ["--key", "email", "--key-where", "active=1"], columns: account,
      records: #"["a@x",1,9]"#),
    UpsertWording(
      id: "p02", table: "acct", rules: .init(target: .index("acct_active")),
      arguments: ["--key-index", "acct_active"], columns: account, records: #"["a@x",0,9]"#),
    // Without a WHERE the only partial index would be found; with a wrong one there is no key.
    UpsertWording(
      id: "p03", table: "acct", rules: .init(target: .columns(["email"], where: "active=2")),
      arguments: ["--key", "email", "--key-where", "active=2"], columns: account,
      records: #"["a@x",1,9]"#, ending: .refused),
    UpsertWording(
      id: "p04", table: "u", rules: .init(target: .columns(["lower(email)"])),
      arguments: ["--key", "lower(email)"], columns: ["email", "n"], records: #"["a@X",2]"#),
    UpsertWording(
      id: "p05", table: "k", rules: .init(target: .columns(["k"])), arguments: ["--key", "k"],
      columns: ["k", "v"], records: #"["ABC",2]"#),
    UpsertWording(
      id: "p06", table: "n", rules: .init(target: .columns(["a", "b"]), nullKeys: .insert),
      arguments: ["--key", "b,a", "--null-keys", "insert"], columns: ["a", "b", "v"], records: "[1,null,2]"),
    UpsertWording(
      id: "p08", table: "i", rules: .init(target: .columns(["k"])), arguments: ["--key", "k"],
      columns: ["k", "v"], records: #"["7","new"]"#),
    UpsertWording(
      id: "p09", table: "wr", rules: .init(target: .columns(["b", "a"])), arguments: ["--key", "b,a"],
      columns: ["a", "b", "v"], records: #"["x",1,"n"],["x",2,"m"]"#),
    UpsertWording(
      id: "p10", table: "pa", rules: .init(), arguments: [], columns: ["id", "v"], records: #"[1,"n"]"#),
    UpsertWording(
      id: "p12", table: "q", rules: .init(target: .columns(["id"])), arguments: ["--key", "id"],
      columns: ["id", "age"], records: "[1,9]", betterRows: ["1|'Cleo'|9"]),
    UpsertWording(
      id: "p13", table: "tr", rules: .init(target: .columns(["id"])), arguments: ["--key", "id"],
      columns: ["id", "v"], records: #"[1,"n"]"#),
  ]
}

extension Merge {
  fileprivate static func newer(_ column: String, isStrict: Bool) -> Merge {
    var merge = Merge()
    merge.newer = Newer(column: column, isStrict: isStrict)
    return merge
  }

  fileprivate static func setting(_ columns: [String: MergeRule]) -> Merge {
    var merge = Merge()
    merge.columns = columns
    return merge
  }

  fileprivate static func onlyIf(_ condition: String) -> Merge {
    var merge = Merge()
    merge.condition = condition
    return merge
  }
}
