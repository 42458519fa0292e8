import Foundation
import TestSupport
import Testing

/// A program that checks what Upsurge writes, where the machine has it.
enum Tool {
  /// Whether a program of this name is on the `PATH`.
  static func exists(_ name: String) -> Bool {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// What a test says that is skipped for want of it.
  static func skipNote(_ name: String) -> Comment { Comment(rawValue: "\(name) is not installed") }
}
