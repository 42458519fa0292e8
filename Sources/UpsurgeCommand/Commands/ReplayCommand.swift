import ArgumentParser
import Upsurge

/// `upsurge replay`: kept and rejected records into the tables that take them by now.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Try quarantined and rejected records again.",
    discussion: """
      `upsurge load --contract quarantine` keeps records whole in the table upsurge_quarantine while the schema has \
      no place for them: a column is missing, or the table itself. Replay stores those whose place is there by now, \
      in the order of arrival, by the key, mode and merge rules of the load that kept them. A record leaves the \
      quarantine in the transaction that stores it, so it is stored exactly once, whatever happens. What still has \
      no place stays, and so does what the table rejects.

      A later delivery of the same key has taken the place of a kept record already when it was stored or kept, as a \
      whole, also of the columns it does not speak of; with --merge newer:COL only if it was not older. Records of \
      loads with rules that read the row (--set COL=sum, min, max or SQL) are steps and not states: all of them are \
      kept, and replay stores them one after the other. What other programs wrote to a row since is not seen: without such a \
      column the kept record is stored over it, also where a mirror keeps it (local-edits: keep). To give a record up, DELETE it from upsurge_quarantine.

      After the quarantine come the records of the table upsurge_rejects, where `upsurge load --rejects table` keeps \
      rejected ones; with FILE it is the records of a file that `upsurge load --rejects FILE` has written, and nothing \
      else. Their bytes are read again as the load has read them, and stored by its key and rules. Mend the table, add \
      the rows that are referred to, or mend `raw` in the file or table (remove `raw_base64` then, which is what is read \
      where it stands); a line or row that is deleted is given up. A record leaves the table in the transaction that \
      stores it. A file holds at the end what was rejected again, below the lines that say how it was read; until then \
      what is left is written to FILE.replay, and a replay that ended early resumes where it stopped. A record that \
      was stored is never stored again, and one that a load which ended early will read again is left to that load. If a \
      replay is killed, run the same command again: its ledger is the one that an undisturbed replay would have printed. \
      A record is stored as if it came now: with a key it replaces what later deliveries \
      brought, unless --merge newer:COL decides.

      A database or a file of somebody else does nothing of its own: it names no file to be read (--blob-folder does), and \
      SQL in its rules is run only where it computes with the record and its row (--trust-rules runs all of it). Such \
      records stay, with the reason.

      Examples:
        upsurge load shop.db orders feed.ndjson --key id --contract quarantine
        sqlite3 shop.db 'SELECT "table", columns, count(*) FROM upsurge_quarantine GROUP BY 1, 2'
        sqlite3 shop.db 'ALTER TABLE orders ADD COLUMN coupon TEXT'
        upsurge replay shop.db

        upsurge load shop.db orders feed.csv --key id --on-error reject --rejects bad.ndjson
        sqlite3 shop.db "INSERT INTO customers VALUES (7, 'Ann')"
        upsurge replay shop.db bad.ndjson

        upsurge load shop.db orders feed.csv --key id --on-error reject --rejects table
        sqlite3 shop.db 'SELECT code, count(*), min(line) FROM upsurge_rejects GROUP BY 1'
        upsurge replay shop.db

      Exit codes: 0 every record was stored; 2 some still have no place or were rejected; 3 stopped part way, what \
      was stored is committed; 4 refused by a guard; 64 usage; 65 FILE is no file of rejects; 66 no such database or \
      file; 73 cannot write beside FILE; 75 database or FILE busy; 129, 130 and 143 ended by a signal; 1 anything else.
      """)

  @Argument(help: "The SQLite database.")
  var database: String

  @Argument(help: "A file of rejects; without it, what the database keeps.")
  var file: String?

  @Option(.durability, of: .replay) var durability: ReplayDurability = .normal

  @Option(.commitEvery, of: .replay) var commitEvery = ReplayOptions().commitEvery

  @Option(.walLimit, of: .replay) var walLimit = ReplayOptions().walLimit

  @Option(.memory, of: .replay) var memory = ReplayOptions().memory

  @Option(.blobFolder, of: .replay) var blobFolder: String?

  @Flag(.trustRules) var trustRules = false

  @Option(.busyTimeout, of: .replay) var busyTimeout = ReplayOptions().busyTimeout

  @Flag(.explainTime, of: .replay) var explainsTime = false

  @OptionGroup(.output) var output: OutputOptions

  func run() throws {
    if explainsTime && output.isQuiet {
      throw ValidationError(
        "--explain-time says where the time went, and --quiet says nothing; --summary FILE holds the stages")
    }
    if file == "-" {
      throw ValidationError("replay takes records out of the file as it stores them: give its path, not -")
    }
    var options = ReplayOptions()
    options.durability = durability == .full ? .full : .normal
    options.commitEvery = commitEvery
    options.walLimit = walLimit
    options.memory = memory
    options.busyTimeout = busyTimeout
    options.blobFolder = blobFolder
    options.trustsRules = trustRules
    let job = ReplayJob(database: database, file: file, options: options)
    let summaryFile: SummaryFile?
    do throws(UpsurgeError) {
      try job.checkSummary(path: output.summary)
      summaryFile = try output.openSummary()
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
    let terminal = Terminal(output: output)
    let control = RunControl()
    Signals.forward(to: control)
    var isReported = true
    let drawer = terminal.draw(control)
    let summary = job.run(
      control: control, note: terminal.note,
      report: { summary in
        drawer?.end()
        terminal.show(summary)
        if explainsTime { terminal.showTime(summary) }
        isReported = summaryFile?.write(summary.json) ?? true
        return isReported
      })
    var code = summary.exitCode
    // The rows are committed; only the report of it failed.
    if !isReported, code == 0 || code == 2 { code = 3 }
    if code != 0 { throw ExitCode(code) }
  }
}
