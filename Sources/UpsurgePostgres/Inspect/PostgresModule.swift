import Upsurge

/// What this module adds to a program that loads and inspects.
package enum PostgresModule {
  /// Lets targets, sources and what is inspected be of PostgreSQL. Once is enough. libpq is loaded when a server is named, not before.
  package static func register() {
    PostgresStores.register()
    PostgresRows.register()
    ServerDescription.register(["postgres", "postgresql"], PostgresInspector())
  }
}
