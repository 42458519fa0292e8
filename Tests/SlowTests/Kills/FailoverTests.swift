import Foundation
import PostgresSupport
import TestSupport
import Testing

/// Loads into a server that ends, and whose standby takes over: with all that was committed, or without the last of it.
@Suite(
  "Loads into PostgreSQL with a failover", .serialized,
  .enabled(if: ServerPair.isPresent, Comment(rawValue: ServerPair.skipNote)))
struct FailoverTests {
  let pair: ServerPair

  init() throws { pair = try ServerPair() }

  /// Ends the first server, and has the second take over.
  private func failOver(_ load: inout PostgresKillLoad, _ gate: CommitGate?) throws {
    try pair.end()
    try pair.promote()
    load.move(to: pair.standby)
    try gate?.moved(to: pair.standby, load.url).open()
  }

  /// Loads it once without a failover, and gets ready for the next time.
  private func prepare(_ load: PostgresKillLoad) throws -> (undisturbed: PostgresKillLoad.Result, CommitGate)
  {
    let (undisturbed, _) = try load.undisturbed()
    try load.reset()
    return (undisturbed, try load.gate())
  }

  private func told(_ load: PostgresKillLoad) throws -> [String: Any] {
    let data = Data(try readFile(load.toldPath))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test(
    "With all commits replicated the run goes on by itself",
    arguments: [PostgresKillLoad.Path.newTable, .walk])
  func replicated(path: PostgresKillLoad.Path) throws {
    var load = try PostgresKillLoad(path, on: pair)
    let (undisturbed, gate) = try prepare(load)
    let child = try load.start()
    try gate.open(to: 7_000)
    try pair.catchUp()
    try failOver(&load, gate)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 2 && !outcome.talk.contains("has lost commits"), "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }

  @Test(
    "Without the last commits the run goes back to what the new server has",
    arguments: [PostgresKillLoad.Path.newTable, .keyless, .ordered])
  func lost(path: PostgresKillLoad.Path) throws {
    var load = try PostgresKillLoad(path, on: pair)
    let (undisturbed, gate) = try prepare(load)
    let child = try load.start()
    let kept = try gate.open(to: 7_000)
    try pair.catchUp()
    try pair.holdBack()
    #expect(try gate.open(to: 13_000) > kept)
    try failOver(&load, gate)
    let outcome = try child.finish()
    #expect(
      outcome.exitCode == 2 && outcome.talk.contains("has lost commits that it had confirmed"),
      "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }

  /// A run that the new server has never heard of, in a table of runs that it may not even have.
  @Test("Without anything of the run it begins again", arguments: [true, false])
  func allLost(hasTable: Bool) throws {
    var load = try PostgresKillLoad(.keyless, on: pair)
    let (undisturbed, _) = try load.undisturbed()
    try load.reset()
    try pair.catchUp()
    if !hasTable { try pair.holdBack() }
    let gate = try load.gate()
    if hasTable {
      try pair.catchUp()
      try pair.holdBack()
    }
    let child = try load.start()
    try gate.open(to: 13_000)
    try failOver(&load, hasTable ? gate : nil)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 2 && outcome.talk.contains("resumes after the 0 records"), "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }

  @Test("A resumed run whose taking over is lost goes back to where the earlier one ended")
  func resumedLost() throws {
    var load = try PostgresKillLoad(.keyless, on: pair)
    let (undisturbed, gate) = try prepare(load)
    let killed = try load.start()
    try gate.open(to: 7_000)
    killed.send(signal: SIGKILL)
    #expect(try killed.finish().exitCode == 1_000 + SIGKILL)
    _ = try load.terminateBackends()
    try load.settle()
    try pair.catchUp()
    try pair.holdBack()
    let child = try load.start()
    try gate.open(to: 13_000)
    try failOver(&load, gate)
    let outcome = try child.finish()
    #expect(
      outcome.exitCode == 2 && outcome.talk.contains("has lost commits that it had confirmed"),
      "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }

  @Test(
    "What cannot be read twice ends with 3 and says so, and loaded again it is complete",
    arguments: [PostgresKillLoad.Input.command, .pipe])
  func pipe(input: PostgresKillLoad.Input) throws {
    var load = try PostgresKillLoad(.append, on: pair)
    let (undisturbed, gate) = try prepare(load)
    let child = try load.start(input)
    let kept = try gate.open(to: 7_000)
    try pair.catchUp()
    try pair.holdBack()
    let confirmed = try gate.open(to: 13_000)
    try failOver(&load, gate)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 3, "\(outcome.talk)")
    let name = input == .pipe ? "standard input" : "exec:cat"
    #expect(outcome.talk.contains("has lost commits that it had confirmed"), "\(outcome.talk)")
    #expect(outcome.talk.contains(name) && outcome.talk.contains("cannot be read again"), "\(outcome.talk)")
    let summary = try told(load)
    #expect(summary["committed_records"] as? Int == kept && kept < confirmed)
    #expect(summary["resumable"] == nil && summary["exit_code"] as? Int == 3)
    // As the message says: with a key, once more, from a file.
    // What the run has rejected is not overwritten before somebody has given it up.
    let refused = try load.start().finish()
    let number = try #require(refused.talk.firstMatch(of: /--forget ([0-9]+)/)?.output.1, "\(refused.talk)")
    #expect(refused.exitCode == 4)
    #expect(try Command.run(["runs", load.url(of: pair.standby), "--forget", String(number)]).exitCode == 0)
    let again = try load.start().finish()
    #expect(again.exitCode == 2, "\(again.talk)")
    #expect(try load.result().rows == undisturbed.rows)
  }

  @Test("A standby is waited for as long as --busy-timeout says, and refused in words")
  func standby() throws {
    let load = try PostgresKillLoad(.append, on: pair)
    try load.reset()
    try pair.catchUp()
    for target in [
      load.url(of: pair.standby), load.url(of: pair.standby) + "&target_session_attrs=read-write",
    ] {
      let outcome = try load.start(into: target, ["--busy-timeout", "300"]).finish()
      #expect(outcome.exitCode == 75 && outcome.talk.contains("takes no rows now"), "\(outcome.talk)")
      #expect(outcome.talk.contains("target_session_attrs=read-write"))
    }
  }

  @Test("A standby that takes over meanwhile is loaded into", arguments: [true, false])
  func takesOver(namesBoth: Bool) throws {
    var load = try PostgresKillLoad(.append, on: pair)
    let (undisturbed, _) = try load.undisturbed()
    try load.reset()
    try pair.catchUp()
    try pair.end()
    load.move(to: pair.standby)
    let child = try load.start(
      into: namesBoth ? nil : load.url(of: pair.standby), ["--busy-timeout", "60000"])
    // The load prints nothing while it waits.
    usleep(700_000)
    #expect(child.isRunning)
    try pair.promote()
    let outcome = try child.finish()
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }

  @Test("Sessions that become read-only in the midst of a run are waited for")
  func readOnlySessions() throws {
    let load = try PostgresKillLoad(.ordered, on: pair)
    let (undisturbed, gate) = try prepare(load)
    let child = try load.start()
    try gate.open(to: 7_000)
    try load.setReadOnly(true)
    #expect(try load.terminateBackends())
    // The load connects again a second later.
    usleep(2_500_000)
    #expect(child.isRunning)
    try load.setReadOnly(false)
    try gate.open()
    let outcome = try child.finish()
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try load.result() == undisturbed)
  }
}
