import CSQLite
import UpsurgeRecords

/// Why `trusted_schema` had to be turned on: a trigger, view or constraint uses something that SQLite does not count
/// as safe there (https://www.sqlite.org/pragma.html#pragma_trusted_schema).
package struct SchemaTrust: Sendable, Equatable {
  /// `virtual table pragma_table_info`, or `function f()`.
  package var object: String
  /// The name alone.
  var name: String

  /// SQLite up to 3.40 calls its JSON functions unsafe by mistake.
  var isOfJSON: Bool { name.hasPrefix("json") || name.hasPrefix("->") }

  /// - Parameter message: what SQLite says: `unsafe use of virtual table "x"`, `unsafe use of f()`.
  init?(message: String) {
    let start = "unsafe use of "
    guard message.hasPrefix(start) else { return nil }
    let rest = String(message.dropFirst(start.count))
    let table = "virtual table "
    if rest.hasPrefix(table) {
      name = String(rest.dropFirst(table.count))
      if name.hasPrefix("\"") && name.hasSuffix("\"") && name.count > 1 {
        name = String(name.dropFirst().dropLast())
      }
      object = "virtual table \(name)"
    } else {
      name = rest.hasSuffix("()") ? String(rest.dropLast(2)) : rest
      object = "function \(rest)"
    }
  }
}

extension Connection {
  /// Turns `trusted_schema` on when SQLite's last message says that a statement needs it.
  /// - Returns: whether it is worth trying again.
  func trustSchemaIfNeeded() -> Bool {
    guard !isBorrowed, schemaTrust == nil, let needed = SchemaTrust(message: lastMessage) else {
      return false
    }
    schemaTrust = needed
    _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    return true
  }

  /// Takes it back where trust did not help: some functions are for the top level only, whatever is trusted.
  func distrustSchema() {
    schemaTrust = nil
    _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
  }
}
