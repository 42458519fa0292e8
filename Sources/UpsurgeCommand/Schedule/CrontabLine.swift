import Upsurge

/// A line for crontab(5).
enum CrontabLine {
  static func text(_ run: ScheduledRun) -> String {
    var command = "cd \(run.folder.quotedForShell) && "
    var lines = [
      "# Add it with: crontab -e",
      "# cron mails what is written to MAILTO, and with -q that is only what went wrong. Exit codes 0 and 2 (some records",
      "# were rejected) are good. A run that is missed while the machine is off is not made up for; --systemd does that.",
    ]
    if !run.variables.isEmpty {
      let file = run.environmentFile.quotedForShell
      let names = run.variables.map(\.escapedForTerminal).joined(separator: ", ")
      lines.append(
        "# The job needs \(names): lines NAME='VALUE' in \(file), which only its owner may read (chmod 600).")
      command += "set -a && . \(file) && set +a && "
    }
    let words = run.words.contains("-q") ? run.words : run.words + ["-q"]
    command += words.map(\.quotedForShell).joined(separator: " ")
    // To cron a % is a line end.
    lines.append("\(run.time.minute) \(run.time.hour) * * * " + command.replacing("%", with: "\\%"))
    return lines.joined(separator: "\n") + "\n"
  }
}
