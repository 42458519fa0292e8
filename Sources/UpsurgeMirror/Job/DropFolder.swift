/// How the files of a folder are taken: each once, by its content.
public struct DropFolder: Sendable, Equatable {
  public var order = Order.name
  public var done = Done.leave

  public init() {}

  public enum Order: String, Sendable, CaseIterable {
    case name
    /// By the time of the last change.
    case time
  }

  /// What becomes of a file that is stored.
  public enum Done: Sendable, Equatable {
    case leave
    /// The file goes to this folder.
    case move(to: String)
    case delete
  }
}
