import ArgumentParser
import Upsurge

extension Terminal {
  /// Does what a command does before it stores anything, or beside that. A failure is said, and ends the command with its exit code.
  static func orExit<Value>(_ work: () throws(UpsurgeError) -> Value) throws -> Value {
    do throws(UpsurgeError) {
      return try work()
    } catch {
      say("upsurge: \(visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
  }
}
