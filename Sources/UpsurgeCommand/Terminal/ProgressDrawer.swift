import Upsurge
import UpsurgeRecords

/// Draws the progress line of what runs on the calling thread, from a thread of its own.
final class ProgressDrawer {
  private let terminal: Terminal
  private let completion = Completion()
  private var thread: WorkerThread?

  /// Where the system has no thread left, nothing is drawn.
  /// - Parameter needsTable: whether it begins only with the first table of a job.
  init(_ control: RunControl, on terminal: Terminal, needsTable: Bool) {
    self.terminal = terminal
    thread = try? WorkerThread { [completion] in
      while !completion.wait(milliseconds: 100) {
        let progress = control.progress
        if !needsTable || progress.table != nil { terminal.show(progress) }
      }
    }
  }

  /// Takes the line away; nothing is drawn any more.
  func end() {
    completion.finish()
    thread?.join()
    thread = nil
    terminal.clearProgress()
  }
}
