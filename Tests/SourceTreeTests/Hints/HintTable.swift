/// Every hint that the program can print, and how it is kept: a scenario follows it, or it speaks of the world outside.
enum HintTable {
  static let scenarios: [HintScenario] =
    csvScenarios + csvDialectScenarios + doubtScenarios + optionScenarios + typeScenarios + schemaScenarios
    + jsonScenarios + encodingScenarios + inputScenarios + archiveScenarios + resumeScenarios + rejectScenarios
    + jobScenarios + mirrorScenarios + databaseScenarios + checkScenarios + keyScenarios + folderScenarios
    + valueScenarios
}
