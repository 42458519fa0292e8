/// Carries the reading stage and its first source to the reading thread.
final class Reading: @unchecked Sendable {
  // Sendable because it is made on the writing thread and used on the reading thread only, which starts later.
  private var stage: ReaderStage
  private let first: PreparedSource

  init(stage: ReaderStage, first: PreparedSource) {
    self.stage = stage
    self.first = first
  }

  func run() { stage.readAll(first: first) }
}
