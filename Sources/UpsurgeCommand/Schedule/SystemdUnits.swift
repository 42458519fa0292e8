import Upsurge

/// A service and a timer for systemd (systemd.service(5), systemd.timer(5)).
enum SystemdUnits {
  static func text(_ run: ScheduledRun) -> String {
    let command =
      ([run.words[0].quotedForUnit(isProgram: true)] + run.words.dropFirst().map { $0.quotedForUnit() })
      .joined(separator: " ")
    return """
      # Two files, for root; for one user ~/.config/systemd/user, and systemctl --user. Then:
      #   systemctl daemon-reload && systemctl enable --now \(run.name).timer
      #   systemctl start \(run.name).service    runs it now; journalctl -u \(run.name) shows what it said

      # --- /etc/systemd/system/\(run.name).service ---
      [Unit]
      Description=Mirror of the feeds of \(run.name.dropFirst("upsurge-".count)) (upsurge)
      Wants=network-online.target
      After=network-online.target

      [Service]
      Type=oneshot
      # Whose tables, files and folders these are; without it, root.
      #User=
      WorkingDirectory=\(run.folder.asUnitPath)
      \(environment(run))
      EnvironmentFile=-\(run.environmentFile)
      ExecStart=\(command)
      # 0: every table is in step with its feed. 2: the same, and some records were rejected. Anything else is a failure.
      SuccessExitStatus=2
      # What systemctl stop sends, SIGTERM, ends a run at a commit; the next one goes on or begins anew.
      TimeoutStopSec=10min

      # --- /etc/systemd/system/\(run.name).timer ---
      [Unit]
      Description=Every day: \(run.name).service

      [Timer]
      OnCalendar=*-*-* \(run.time.text):00
      # A run that was missed while the machine was off is made up for when it is on again.
      Persistent=true

      [Install]
      WantedBy=timers.target

      """
  }

  private static func environment(_ run: ScheduledRun) -> String {
    let names = run.variables.map(\.escapedForTerminal)
    return names.isEmpty
      ? "# Secrets, if the job ever names one as ${env:NAME}: lines NAME=VALUE in a file that only its owner may read."
      : "# The job needs \(names.joined(separator: ", ")): lines NAME=VALUE in a file that only its owner may read (chmod 600)."
  }
}

extension String {
  /// As a word of `ExecStart=`; of the program, `$` means nothing.
  fileprivate func quotedForUnit(isProgram: Bool = false) -> String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "_-./,:=@+".utf8.contains($0)
      }
    if isPlain { return self }
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\\", "\"": text += "\\" + String(scalar)
      case "%": text += "%%"
      case "$": text += isProgram ? "$" : "$$"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// As a setting that takes one path: a backslash at the end would join the next line.
  fileprivate var asUnitPath: String {
    let path = replacing("%", with: "%%")
    return path.hasSuffix("\\") ? path + "/" : path
  }
}
