import ArgumentParser
import Upsurge
import UpsurgeMirror

extension MirrorCommand {
  /// Prints what makes a scheduler run the job.
  /// - Throws: `ValidationError` for what no scheduler is to do, `UpsurgeError`.
  func printSchedule() throws {
    guard let database, let job, !Source(job).isStandardInput else {
      throw ValidationError("--systemd and --cron run a job file: give one, and the database")
    }
    if dryRun != nil || acceptsChange || acceptedDelivery != nil {
      throw ValidationError(
        "--dry-run, --accept-change and --accept-delivery are for a run that somebody watches: leave them out with "
          + "--systemd or --cron")
    }
    let bytes = try SmallFile.read(job, limit: JobFileReader.byteLimit) ?? []
    let run = try ScheduledRun(
      database: database, job: job, words: scheduledWords, bytes: bytes, time: schedule.at ?? .night)
    StandardOutput.print(
      schedule.printsSystemd ? SystemdUnits.text(run) : CrontabLine.text(run), terminator: "")
  }

  /// What else was asked for, with paths from the root.
  private var scheduledWords: [String] {
    var words = tables.map { "--table=\($0)" }
    if verify { words.append("--verify") }
    for (option, path) in [("--metrics", metrics), ("--summary", output.summary)] {
      if let path { words += [option, path == "-" ? path : ScheduledRun.absolute(path)] }
    }
    if logging.log != .text { words += ["--log", logging.log.rawValue] }
    if let deadline = options.unattended.deadline {
      words += ["--deadline", "\(Int(deadline.seconds.rounded(.up)))s"]
    }
    if output.isVerbose { words.append("-v") }
    if output.isQuiet { words.append("-q") }
    return words
  }
}
