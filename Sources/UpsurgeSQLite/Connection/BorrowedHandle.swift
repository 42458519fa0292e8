import CSQLite
import UpsurgeRecords

/// What the engine adds to connections that are not its own, once for each; it lives as long as the handle.
package enum BorrowedHandle {
  struct State: @unchecked Sendable {
    // Sendable because only the thread that uses the connection follows the pointers.

    var notes: UnsafeMutablePointer<WriteNotes>
    var synchronizingFlag: UnsafeMutablePointer<Bool>
    /// Whether a call is at work on it.
    var isLent = false
  }

  /// By the address of SQLite's handle.
  private static let states = Guarded<[UInt: State]>([:])

  /// Adds the engine's functions to a connection: `uuid()`, where it has none, and `upsurge_is_synchronizing()`.
  package static func prepare(_ handle: OpaquePointer) throws(UpsurgeError) { _ = try state(of: handle) }

  /// Notes that a call is at work.
  /// - Throws: `usage` where another one is.
  static func lend(_ handle: OpaquePointer) throws(UpsurgeError) {
    let isFree = states.withLock { states in
      let key = UInt(bitPattern: handle)
      defer { states[key]?.isLent = true }
      return states[key]?.isLent == false
    }
    if isFree { return }
    throw UpsurgeError(
      .usage, "a bulk call was begun while another one is at work on the same connection",
      hint:
        "gather the rows first; what gives the rows of a call, or takes its rejects, must not begin another one"
    )
  }

  /// Notes that a call has ended.
  static func giveBack(_ handle: OpaquePointer) {
    states.withLock { $0[UInt(bitPattern: handle)]?.isLent = false }
  }

  /// What is known of a handle; where that is nothing, functions and collations are registered.
  static func state(of handle: OpaquePointer) throws(UpsurgeError) -> State {
    let key = UInt(bitPattern: handle)
    if let state = states.withLock({ $0[key] }) { return state }
    let flag = try ApplicationFunction.register(on: handle, isBorrowed: true)
    let state = State(notes: try WriteNotes.register(on: handle), synchronizingFlag: flag)
    states.withLock { $0[key] = state }
    let code = sqlite3_create_collation_v2(
      handle, "upsurge_note_end", SQLITE_UTF8, state.notes, { _, _, _, _, _ in 0 },
      { BorrowedHandle.forget($0) })
    if code == SQLITE_OK { return state }
    states.withLock { $0[key] = nil }
    throw UpsurgeError(.database, "SQLite cannot register a collation", underlyingCode: code)
  }

  /// Forgets a handle that is closed.
  private static func forget(_ notes: UnsafeMutableRawPointer?) {
    let gone = states.withLock { states -> State? in
      guard let key = states.first(where: { UnsafeMutableRawPointer($0.value.notes) == notes })?.key else {
        return nil
      }
      return states.removeValue(forKey: key)
    }
    gone?.notes.deallocate()
  }
}
