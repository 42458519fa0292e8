import CSQLite
import UpsurgeSQLite

extension Statement {
  /// Binds the first columns of the row on which another statement stands, in their order.
  package func bind(rowOf handle: OpaquePointer, count: Int) {
    for index in 0..<Int32(count) {
      sqlite3_bind_value(self.handle, index + 1, sqlite3_column_value(handle, index))
    }
  }
}
