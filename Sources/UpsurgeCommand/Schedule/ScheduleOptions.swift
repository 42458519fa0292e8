import ArgumentParser

/// The options that print what makes a scheduler run a job every day.
struct ScheduleOptions: ParsableArguments {
  @Flag(.systemd) var printsSystemd = false

  @Flag(.cron) var printsCron = false

  @Option(.at) var at: TimeOfDay?

  /// Whether something is to be printed instead of a run.
  var isAsked: Bool { printsSystemd || printsCron }

  func validate() throws {
    if printsSystemd && printsCron { throw ValidationError("give --systemd or --cron, not both") }
    if at != nil && !isAsked {
      throw ValidationError("--at says when --systemd or --cron run the job: give one of them")
    }
  }
}
