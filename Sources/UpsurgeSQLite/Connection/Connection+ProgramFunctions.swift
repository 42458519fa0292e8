import CSQLite
import UpsurgeRecords

/// SQL functions that a program adds to a connection.
extension Connection {
  /// Adds a function, or replaces the one with this name and number of arguments.
  /// - Parameters:
  ///   - argumentCount: at most 127; -1 for any number.
  ///   - isDeterministic: whether the same arguments always give the same result, so that it may be called less often, and in
  ///     indexes and generated columns.
  ///   - body: what it throws ends the statement with that as its message.
  /// - Throws: `usage` for a name or number that SQLite does not take, and for the name of one of the engine's functions.
  package func addFunction(
    _ name: String, argumentCount: Int, isDeterministic: Bool,
    _ body: @escaping ([SQLValue]) throws -> SQLValue
  ) throws(UpsurgeError) {
    try Self.check(name)
    let function = Unmanaged.passRetained(ProgramFunction(body))
    let code = sqlite3_create_function_v2(
      handle, name, Int32(clamping: argumentCount), Self.flags(isDeterministic), function.toOpaque(),
      { context, count, values in
        guard let data = sqlite3_user_data(context) else { return }
        let function = Unmanaged<ProgramFunction>.fromOpaque(data).takeUnretainedValue()
        ProgramResult.set(on: context) { try function.body(SQLValue.all(values, count)) }
      }, nil, nil, { $0.map { Unmanaged<ProgramFunction>.fromOpaque($0).release() } })
    try Self.check(code, name)
  }

  /// Adds an aggregate function, or replaces the one with this name and number of arguments.
  /// - Parameter begin: makes what takes the rows of one group; that is asked for its result in the end.
  /// - Throws: as `addFunction`.
  package func addAggregate(
    _ name: String, argumentCount: Int, isDeterministic: Bool, begin: @escaping () -> any ProgramAggregate
  ) throws(UpsurgeError) {
    try Self.check(name)
    let function = Unmanaged.passRetained(ProgramAggregateFunction(begin))
    let code = sqlite3_create_function_v2(
      handle, name, Int32(clamping: argumentCount), Self.flags(isDeterministic), function.toOpaque(), nil,
      { context, count, values in
        guard let group = ProgramGroup.of(context, isMade: true) else {
          return sqlite3_result_error_nomem(context)
        }
        guard group.failure == nil else { return }
        do { try group.aggregate.step(SQLValue.all(values, count)) } catch { group.failure = error }
      },
      { context in
        guard let data = sqlite3_user_data(context) else { return }
        let function = Unmanaged<ProgramAggregateFunction>.fromOpaque(data).takeUnretainedValue()
        // A group without rows has nothing yet.
        let group = ProgramGroup.take(context) ?? ProgramGroup(function.begin())
        ProgramResult.set(on: context) {
          if let failure = group.failure { throw failure }
          return try group.aggregate.result()
        }
      }, { $0.map { Unmanaged<ProgramAggregateFunction>.fromOpaque($0).release() } })
    try Self.check(code, name)
  }

  private static func flags(_ isDeterministic: Bool) -> Int32 {
    SQLITE_UTF8 | SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
  }

  private static func check(_ name: String) throws(UpsurgeError) {
    if !ApplicationFunction.names.contains(name.lowercased()) { return }
    throw UpsurgeError(.usage, "the function \(name) is one of the engine's", hint: "give it another name")
  }

  private static func check(_ code: Int32, _ name: String) throws(UpsurgeError) {
    if code == SQLITE_OK { return }
    throw UpsurgeError(
      .usage, "SQLite does not take a function \(name.escapedForTerminal)",
      hint: "a name of at most 255 bytes, at most 127 arguments, and no statement that uses it at work",
      underlyingCode: code)
  }
}

/// Takes the rows of one group.
package protocol ProgramAggregate: AnyObject {
  func step(_ arguments: [SQLValue]) throws
  func result() throws -> SQLValue
}

private final class ProgramFunction {
  let body: ([SQLValue]) throws -> SQLValue

  init(_ body: @escaping ([SQLValue]) throws -> SQLValue) { self.body = body }
}

private final class ProgramAggregateFunction {
  let begin: () -> any ProgramAggregate

  init(_ begin: @escaping () -> any ProgramAggregate) { self.begin = begin }
}

/// A group whose rows are coming.
private final class ProgramGroup {
  let aggregate: any ProgramAggregate
  /// What a row has thrown.
  var failure: (any Error)?

  init(_ aggregate: any ProgramAggregate) { self.aggregate = aggregate }

  /// The group of a call; SQLite keeps a pointer to it, which is NULL at first.
  static func of(_ context: OpaquePointer?, isMade: Bool) -> ProgramGroup? {
    let size = Int32(isMade ? MemoryLayout<UnsafeMutableRawPointer?>.size : 0)
    guard let memory = sqlite3_aggregate_context(context, size), let data = sqlite3_user_data(context) else {
      return nil
    }
    let place = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    if let group = place.pointee { return Unmanaged<ProgramGroup>.fromOpaque(group).takeUnretainedValue() }
    if !isMade { return nil }
    let function = Unmanaged<ProgramAggregateFunction>.fromOpaque(data).takeUnretainedValue()
    let group = ProgramGroup(function.begin())
    place.pointee = Unmanaged.passRetained(group).toOpaque()
    return group
  }

  /// The group, which SQLite keeps no longer; nil where it had no row.
  static func take(_ context: OpaquePointer?) -> ProgramGroup? {
    guard let memory = sqlite3_aggregate_context(context, 0) else { return nil }
    let place = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    guard let group = place.pointee else { return nil }
    place.pointee = nil
    return Unmanaged<ProgramGroup>.fromOpaque(group).takeRetainedValue()
  }
}

private enum ProgramResult {
  /// Gives a call its result, or the error of it.
  static func set(on context: OpaquePointer?, _ body: () throws -> SQLValue) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    do {
      switch try body() {
      case .null: sqlite3_result_null(context)
      case .integer(let number): sqlite3_result_int64(context, number)
      case .real(let number): sqlite3_result_double(context, number)
      case .text(var text):
        text.withUTF8 { bytes in
          let start = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
          // A NULL pointer would be NULL.
          if let start {
            sqlite3_result_text64(context, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
          } else {
            sqlite3_result_text(context, "", 0, transient)
          }
        }
      case .blob(let bytes):
        bytes.withUnsafeBytes {
          if $0.isEmpty {
            sqlite3_result_zeroblob(context, 0)
          } else {
            sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient)
          }
        }
      }
    } catch {
      let message = (error as? UpsurgeError)?.message ?? "\(error)"
      sqlite3_result_error(context, message, -1)
    }
  }
}

extension SQLValue {
  /// The arguments of a function.
  fileprivate static func all(_ values: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int32) -> [SQLValue] {
    (0..<Int(count)).map { index in
      guard let value = values?[index] else { return .null }
      switch sqlite3_value_type(value) {
      case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
      case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
      case SQLITE_TEXT:
        let text = sqlite3_value_text(value)
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
        return .text(String(decoding: bytes, as: UTF8.self))
      case SQLITE_BLOB:
        let blob = sqlite3_value_blob(value)
        return .blob([UInt8](UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_value_bytes(value)))))
      default: return .null
      }
    }
  }
}
