import Upsurge
import UpsurgeRecords

/// What the engine says, in the words of a job file: `--on-error reject` is `on-error: reject` there.
package enum JobWording {
  /// Terms whose key is called otherwise.
  private static let phrases: [Term: String] = [
    .alter: "contract: evolve", .atomic: "atomic: table", .stopAfter: "fewer records in the feed",
    .folderOrder: "folder.order", .folderDone: "folder.done",
  ]

  /// Keys that are true or false.
  package static let flags: Set<Term> = [
    .noHeader, .createKey, .anyKey, .strict, .inputOrder, .rowState, .allowEmpty,
  ]

  /// Keys that are lists of texts, in which `=` is a part of the text.
  private static let lists: Set<Term> = [.null, .bool]

  /// Keys of `guards`.
  private static let guards: Set<Term> = [
    .maxDelete, .minRows, .minRatio, .allowEmpty, .expectCount, .suspicious, .lineEnd, .trailer,
  ]

  /// Options that are said as they are typed: those of `upsurge mirror` itself, and what only other commands take.
  package static let typed: Set<Term> = [
    .acceptChange, .acceptDelivery, .dryRun, .verify, .summary, .explainTime, .explain, .resume, .history,
    .forget, .emitSQL,
    .maxStatement, .trustRules, .changes, .direct, .rowsPerStatement, .withoutWalk, .quiet, .verbose,
    .progress, .log,
    .metrics, .table, .check, .checkJob, .schema, .systemd, .cron, .at, .yes, .json, .salt, .maxAge, .file,
    .rows, .rounds, .compare,
    .scratch, .html, .except,
  ]

  package static func ofJob(_ wording: Wording) -> String { wording.text(naming: key) }

  /// A key of a job file, or an option where a job has no such key.
  package static func key(_ term: Term, _ value: String?) -> String {
    let name = term.rawValue
    if let phrase = phrases[term] { return phrase }
    if typed.contains(term) { return Wording.option(term, value) }
    let place = guards.contains(term) ? " in the guards" : ""
    if lists.contains(term), let value, !value.contains("'") { return "\(name): '\(value)'" }
    if flags.contains(term), value == nil { return "\(name): true\(place)" }
    return (value.map { "\(name): \(Self.value($0))" } ?? name) + place
  }

  /// `A,B` is `[A, B]`, and `OLD=NEW` is `{OLD: NEW}`.
  private static func value(_ word: String) -> String {
    if word.contains(where: { "'\"".contains($0) }) { return word }
    let names = word.split(separator: ",")
    if names.count > 1 { return "[\(names.joined(separator: ", "))]" }
    let pair = word.split(separator: "=", maxSplits: 1)
    return pair.count == 2 ? "{\(pair[0]): \(pair[1])}" : word
  }
}

extension UpsurgeError {
  /// The error in the words of a job file.
  var ofJob: UpsurgeError {
    var error = self
    error.said = Wording(JobWording.ofJob(said))
    error.remedy = remedy.map { Wording(JobWording.ofJob($0)) }
    return error
  }
}

extension MirrorJob {
  /// Says notes in the words of the job file, where there is one.
  func wording(_ note: @escaping @Sendable (RunNote) -> Void) -> @Sendable (RunNote) -> Void {
    if file == nil { return note }
    return { said in
      var said = said
      said.said = Wording(JobWording.ofJob(said.said))
      note(said)
    }
  }
}
