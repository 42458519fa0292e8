import ArgumentParser
import Upsurge
import UpsurgeMirror

/// All that can be said of one table of a mirror job, in the words of the command line.
struct TableOptions: ParsableArguments {
  @OptionGroup(title: "Feed") var feed: FeedOptions

  @OptionGroup(title: "Guards") var guards: GuardOptions

  @OptionGroup(title: "Folders") var folder: FolderOptions

  @OptionGroup(title: "Unattended runs") var unattended: UnattendedOptions

  @OptionGroup(title: "Input") var input: InputOptions

  @OptionGroup(title: "Key and merge") var upsert: UpsertOptions

  @OptionGroup(title: "Table") var schema: SchemaOptions

  @OptionGroup(title: "Bad records") var rejects: RejectOptions

  @OptionGroup(title: "Transactions and bounds") var transactions: TransactionOptions

  /// The groups, each of which a job file hands its own words: to parse all of them for each table would take long.
  static var groups: [any TableOptionGroup.Type] {
    [
      FeedOptions.self, GuardOptions.self, FolderOptions.self, UnattendedOptions.self, InputOptions.self,
      UpsertOptions.self, SchemaOptions.self, RejectOptions.self, TransactionOptions.self,
    ]
  }

  /// - Throws: `ValidationError` that names the option.
  func apply(to table: inout MirrorTable) throws {
    let groups: [any TableOptionGroup] = [
      feed, guards, folder, unattended, input, upsert, schema, rejects, transactions,
    ]
    for group in groups { try group.apply(to: &table) }
  }
}

/// Options of a table that do not depend on those of another group.
protocol TableOptionGroup: ParsableArguments {
  /// Puts what was given, and the defaults of what was not, into `table`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to table: inout MirrorTable) throws
}

extension FeedOptions: TableOptionGroup {}

extension GuardOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws { try apply(to: &table.guards) }
}

extension FolderOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) { apply(to: &table.folder) }
}

extension InputOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension UpsertOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension SchemaOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws { try apply(to: &table.options) }
}

extension RejectOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws {
    try apply(to: &table.options, defaultPolicy: .reject)
  }
}

extension TransactionOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws {
    apply(to: &table.options)
    if table.options.durability == .off {
      throw ValidationError("--durability off is for new files only, and a mirror is run again and again")
    }
  }
}
