import ArgumentParser
import Upsurge
import UpsurgeMirror

/// All that can be said of one table of a mirror job, in the words of the command line.
struct TableOptions: ParsableArguments {
  @OptionGroup(.feed) var feed: FeedOptions

  @OptionGroup(.guards) var guards: GuardOptions

  @OptionGroup(.folders) var folder: FolderOptions

  @OptionGroup(.unattended) var unattended: UnattendedOptions

  @OptionGroup(.input) var input: InputOptions

  @OptionGroup(.values) var values: ValueOptions

  @OptionGroup(.key) var upsert: UpsertOptions

  @OptionGroup(.table) var schema: SchemaOptions

  @OptionGroup(.rejects) var rejects: RejectOptions

  @OptionGroup(.transactions) var transactions: TransactionOptions

  /// The groups, each of which a job file hands its own words: to parse all of them for each table would take long.
  static var groups: [any TableOptionGroup.Type] {
    [
      FeedOptions.self, GuardOptions.self, FolderOptions.self, UnattendedOptions.self, InputOptions.self,
      ValueOptions.self, UpsertOptions.self, SchemaOptions.self, RejectOptions.self, TransactionOptions.self,
    ]
  }

  /// - Throws: `ValidationError` that names the option.
  func apply(to table: inout MirrorTable) throws {
    let groups: [any TableOptionGroup] = [
      feed, guards, folder, unattended, input, values, upsert, schema, rejects, transactions,
    ]
    for group in groups { try group.apply(to: &table) }
  }
}

/// Options of a table that do not depend on those of another group.
protocol TableOptionGroup: ParsableArguments {
  /// The part of the catalogue that has them.
  static var topic: OptionTopic { get }

  /// Puts what was given, and the defaults of what was not, into `table`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to table: inout MirrorTable) throws
}

extension FeedOptions: TableOptionGroup {
  static let topic = OptionTopic.feed
}

extension GuardOptions: TableOptionGroup {
  static let topic = OptionTopic.guards

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.guards) }
}

extension FolderOptions: TableOptionGroup {
  static let topic = OptionTopic.folders

  func apply(to table: inout MirrorTable) { apply(to: &table.folder) }
}

extension InputOptions: TableOptionGroup {
  static let topic = OptionTopic.input

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension ValueOptions: TableOptionGroup {
  static let topic = OptionTopic.values

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension UpsertOptions: TableOptionGroup {
  static let topic = OptionTopic.key

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension SchemaOptions: TableOptionGroup {
  static let topic = OptionTopic.table

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension RejectOptions: TableOptionGroup {
  static let topic = OptionTopic.rejects

  func apply(to table: inout MirrorTable) throws {
    try apply(to: &table.options.rejects, defaultPolicy: .reject)
  }
}

extension TransactionOptions: TableOptionGroup {
  static let topic = OptionTopic.transactions

  func apply(to table: inout MirrorTable) throws {
    apply(to: &table.options.transaction)
    if table.options.transaction.durability == .off {
      throw ValidationError("--durability off is for new files only, and a mirror is run again and again")
    }
  }
}
