import UpsurgeModels

// The tables of the cases, as far as a case speaks of them: a model may have fewer columns than its table.

@Table("player") private struct Scored {
  let id: Int
  var name: String
  var score: Int
}

@Table("player") private struct Named {
  let id: Int
  var name: String
}

@Table("vocabulary") private struct Word {
  @Column(primaryKey: true) var word: String
  var kind: String?
  var isTainted = false
  var count = 1
}

@Table("phonebook") private struct Phone {
  @Column(primaryKey: true) var name: String
  var phonenumber: String
}

@Table("phonebook2") private struct DatedPhone {
  @Column(primaryKey: true) var name: String
  var phonenumber: String
  var validDate: String
}

@Table("lists") private struct List {
  let id: Int
  var color = 4_889_071
  var title: String
  var position = 0
}

@Table("lists") private struct Titled {
  let id: Int
  var title: String
}

@Table("rt") private struct Tie {
  @Column(primaryKey: true) var r: Int
  @Column(primaryKey: true) var g: Int
}

@Table("reminders") private struct Reminder {
  let id: Int
  var title: String
  var notes = ""
  var done = false
  var flagged = false
  var updatedAt: String
}

@Table("reminders") private struct Dated {
  let id: Int
  var title: String
  var updatedAt: String
}

@Table("reminders") private struct Flags {
  let id: Int
  var done: Bool
  var flagged = false
}

@Table("reminders") private struct Heading {
  let id: Int
  var title: String
}

@Table("tags") private struct Tag {
  let id: Int
  var title: String
}

@Table("acct") private struct Account {
  let id: Int
  var email: String
  var active: Int
  var n: Int
}

@Table("u") private struct User {
  var email: String
  var n: Int
}

@Table("k") private struct Folded {
  @Column(primaryKey: true) var k: String
  var v: Int
}

@Table("n") private struct Open {
  var a: Int
  var b: Int?
  var v: Int
}

@Table("w") private struct Counted {
  @Column(primaryKey: true) var k: String
  var c: Int
}

@Table("i") private struct Spelled {
  @Column(primaryKey: true) var k: SQLValue
  var v: String
}

@Table("wr") private struct Compound {
  @Column(primaryKey: true) var a: String
  @Column(primaryKey: true) var b: Int
  var v: String
}

@Table("pa") private struct Parent {
  let id: Int
  var v: String
}

@Table("q") private struct Aged {
  let id: Int
  var age: Int
}

@Table("tr") private struct Watched {
  let id: Int
  var v: String
}

extension UpsertCase {
  static let all: [UpsertCase] = anyKey + merges + keys

  // MARK: - No target named: every key of the table

  private static func anyKey(_ options: inout BulkOptions) { options.key = .any }

  private static func scored(_ id: String, _ ending: Ending, _ row: Scored.Draft) -> UpsertCase {
    UpsertCase(
      id, ending: ending, options: anyKey, { try await $0.upsert([row], options: $1) },
      returning: { try $0.upsert([row], options: $1, returning: Scored.self) })
  }

  private static let anyKey = [
    scored("g01", .stored, .init(name: "Arthur", score: 1000)),
    scored("g02", .stored, .init(name: "Arthur", score: 100)),
    scored("g03", .stored, .init(id: 1, name: "Craig", score: 500)),
    scored("g04", .stored, .init(id: 1, name: "Arthur", score: 200)),
    scored("g05", .rejected, .init(id: 1, name: "Barbara", score: 300)),
    UpsertCase(
      "g09", options: anyKey,
      { try await $0.upsert([Named.Draft(name: "Arthur"), .init(name: "Bob")], options: $1) },
      returning: {
        try $0.upsert(
          [Named.Draft(name: "Arthur"), .init(name: "Bob")], options: $1, returning: Named.self)
      }),
    UpsertCase(
      "s05", options: anyKey,
      {
        try await $0.upsert(
          [
            Dated(id: 1, title: "newer", updatedAt: "2041-01-01"),
            .init(id: 2, title: "older", updatedAt: "2039-01-01"),
          ],
          when: { row, excluded in excluded.updatedAt > row.updatedAt }, options: $1)
      },
      returning: {
        try $0.upsert(
          [
            Dated(id: 1, title: "newer", updatedAt: "2041-01-01"),
            .init(id: 2, title: "older", updatedAt: "2039-01-01"),
          ],
          when: { row, excluded in excluded.updatedAt > row.updatedAt }, options: $1, returning: Dated.self)
      }),
    UpsertCase(
      "p11", options: { $0.key = .firstOf([.columns(["id"]), .columns(["name"])]) },
      { try await $0.upsert([Scored(id: 99, name: "Arthur", score: 5)], options: $1) },
      returning: {
        try $0.upsert([Scored(id: 99, name: "Arthur", score: 5)], options: $1, returning: Scored.self)
      }),
  ]

  // MARK: - How the row changes

  private static let merges = [
    UpsertCase(
      "g06",
      {
        try await $0.upsert(
          [Word(word: "jovial", kind: "adjective")], on: \.word,
          merge: { row, excluded in
            row.count += 1
            row.kind = excluded.kind
          }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Word(word: "jovial", kind: "adjective")], on: \.word,
          merge: { row, excluded in
            row.count += 1
            row.kind = excluded.kind
          }, options: $1, returning: Word.self)
      }),
    UpsertCase(
      "g07",
      { try await $0.insertOrIgnore([Word(word: "jovial", kind: "ignored")], on: \.word, options: $1) },
      returning: {
        try $0.insertOrIgnore(
          [Word(word: "jovial", kind: "ignored")], on: \.word, options: $1, returning: Word.self)
      }),
    UpsertCase(
      "g08",
      { try await $0.upsert([Phone(name: "Alice", phonenumber: "704-555-1212")], on: \.name, options: $1) },
      returning: {
        try $0.upsert(
          [Phone(name: "Alice", phonenumber: "704-555-1212")], on: \.name, options: $1, returning: Phone.self)
      }),
    UpsertCase(
      "g10",
      {
        try await $0.upsert(
          ["Alice": "704-555-1212", "Bob": "x"].sorted { $0.key < $1.key }.map {
            DatedPhone(name: $0.key, phonenumber: $0.value, validDate: "2018-05-08")
          }, when: { $1.validDate > $0.validDate }, options: $1)
      },
      returning: {
        try $0.upsert(
          ["Alice": "704-555-1212", "Bob": "x"].sorted { $0.key < $1.key }.map {
            DatedPhone(name: $0.key, phonenumber: $0.value, validDate: "2018-05-08")
          }, when: { $1.validDate > $0.validDate }, options: $1, returning: DatedPhone.self)
      }),
    UpsertCase(
      "s02",
      {
        try await $0.upsert(
          [List.Draft(title: "Personal")], on: \.title, merge: { row, _ in row.set(\.color, to: 65_280) },
          options: $1)
      },
      returning: {
        try $0.upsert(
          [List.Draft(title: "Personal")], on: \.title, merge: { row, _ in row.set(\.color, to: 65_280) },
          options: $1, returning: List.self)
      }),
    UpsertCase(
      "s03",
      { try await $0.insertOrIgnore([Tie(r: 1, g: 3), Tie(r: 1, g: 4)], on: \.r, \.g, options: $1) },
      returning: {
        try $0.insertOrIgnore(
          [Tie(r: 1, g: 3), Tie(r: 1, g: 4)], on: \.r, \.g, options: $1, returning: Tie.self)
      }),
    UpsertCase(
      "s04",
      {
        try await $0.upsert(
          [Reminder(id: 1, title: "Cash check", updatedAt: "2040-02-14")], on: \.id, options: $1)
      },
      returning: {
        try $0.upsert(
          [Reminder(id: 1, title: "Cash check", updatedAt: "2040-02-14")], on: \.id, options: $1,
          returning: Reminder.self)
      }),
    UpsertCase(
      "s06",
      {
        try await $0.upsert(
          [Flags(id: 1, done: true), Flags(id: 2, done: true)], on: \.id, when: { row, _ in row.flagged },
          merge: { row, excluded in row.done = excluded.done }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Flags(id: 1, done: true), Flags(id: 2, done: true)], on: \.id, when: { row, _ in row.flagged },
          merge: { row, excluded in row.done = excluded.done }, options: $1, returning: Flags.self)
      }),
    UpsertCase(
      "s07",
      {
        try await $0.upsert(
          [Tag.Draft(title: "car"), .init(title: "new")], on: \.title,
          merge: { row, excluded in row.title = excluded.title + "-copy" }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Tag.Draft(title: "car"), .init(title: "new")], on: \.title,
          merge: { row, excluded in row.title = excluded.title + "-copy" }, options: $1, returning: Tag.self)
      }),
    UpsertCase(
      "s08",
      {
        try await $0.upsert(
          [Heading(id: 1, title: "x")], merge: { row, _ in row.title = row.title + " Copy" }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Heading(id: 1, title: "x")], merge: { row, _ in row.title = row.title + " Copy" }, options: $1,
          returning: Heading.self)
      }),
    UpsertCase(
      "p07",
      {
        try await $0.upsert(
          ["x", "x", "y"].map { Counted(k: $0, c: 1) }, merge: { row, excluded in row.c += excluded.c },
          options: $1)
      },
      returning: {
        try $0.upsert(
          ["x", "x", "y"].map { Counted(k: $0, c: 1) }, merge: { row, excluded in row.c += excluded.c },
          options: $1, returning: Counted.self)
      }),
  ]

  // MARK: - Which row is meant

  private static let keys = [
    UpsertCase(
      "s01", ending: .rejected,
      { try await $0.upsert([Titled.Draft(title: "Personal")], on: \.id, options: $1) },
      returning: {
        try $0.upsert([Titled.Draft(title: "Personal")], on: \.id, options: $1, returning: Titled.self)
      }),
    UpsertCase(
      "p01",
      {
        try await $0.upsert(
          [Account.Draft(email: "a@x", active: 1, n: 9)], on: \.email, where: { $0.active == 1 }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Account.Draft(email: "a@x", active: 1, n: 9)], on: \.email, where: { $0.active == 1 }, options: $1,
          returning: Account.self)
      }),
    UpsertCase(
      "p02", options: { $0.key = .index("acct_active") },
      { try await $0.upsert([Account.Draft(email: "a@x", active: 0, n: 9)], options: $1) },
      returning: {
        try $0.upsert(
          [Account.Draft(email: "a@x", active: 0, n: 9)], options: $1, returning: Account.self)
      }),
    UpsertCase(
      "p03", ending: .refused,
      {
        try await $0.upsert(
          [Account.Draft(email: "a@x", active: 1, n: 9)], on: \.email, where: { $0.active == 2 }, options: $1)
      },
      returning: {
        try $0.upsert(
          [Account.Draft(email: "a@x", active: 1, n: 9)], on: \.email, where: { $0.active == 2 }, options: $1,
          returning: Account.self)
      }),
    UpsertCase(
      "p04", { try await $0.upsert([User(email: "a@X", n: 2)], on: \.email.lowercased, options: $1) },
      returning: {
        try $0.upsert([User(email: "a@X", n: 2)], on: \.email.lowercased, options: $1, returning: User.self)
      }),
    UpsertCase(
      "p05", { try await $0.upsert([Folded(k: "ABC", v: 2)], options: $1) },
      returning: { try $0.upsert([Folded(k: "ABC", v: 2)], options: $1, returning: Folded.self) }),
    UpsertCase(
      "p06", options: { $0.nullKeys = .insert },
      { try await $0.upsert([Open(a: 1, b: nil, v: 2)], on: \.b, \.a, options: $1) },
      returning: {
        try $0.upsert([Open(a: 1, b: nil, v: 2)], on: \.b, \.a, options: $1, returning: Open.self)
      }),
    UpsertCase(
      "p08", { try await $0.upsert([Spelled(k: .text("7"), v: "new")], options: $1) },
      returning: { try $0.upsert([Spelled(k: .text("7"), v: "new")], options: $1, returning: Spelled.self) }),
    UpsertCase(
      "p09",
      {
        try await $0.upsert(
          [Compound(a: "x", b: 1, v: "n"), Compound(a: "x", b: 2, v: "m")], on: \.b, \.a, options: $1)
      },
      returning: {
        try $0.upsert(
          [Compound(a: "x", b: 1, v: "n"), Compound(a: "x", b: 2, v: "m")], on: \.b, \.a, options: $1,
          returning: Compound.self)
      }),
    UpsertCase(
      "p10", { try await $0.upsert([Parent(id: 1, v: "n")], options: $1) },
      returning: { try $0.upsert([Parent(id: 1, v: "n")], options: $1, returning: Parent.self) }),
    UpsertCase(
      "p12", betterRows: ["1|'Cleo'|9"],
      { try await $0.upsert([Aged(id: 1, age: 9)], on: \.id, options: $1) },
      returning: { try $0.upsert([Aged(id: 1, age: 9)], on: \.id, options: $1, returning: Aged.self) }),
    UpsertCase(
      "p13", { try await $0.upsert([Watched(id: 1, v: "n")], on: \.id, options: $1) },
      returning: { try $0.upsert([Watched(id: 1, v: "n")], on: \.id, options: $1, returning: Watched.self) }),
  ]
}
