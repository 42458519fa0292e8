#if GRDB
  // A program imports this module, with or without GRDB beside it: models, their operators and GRDB's interface are all there. A name
  // that both have is GRDB's, said here; with `import UpsurgeModels` in the same file it would be nobody's.
  @_exported import GRDB
  @_exported import UpsurgeModels

  public typealias ColumnDefinition = GRDB.ColumnDefinition
  public typealias Database = GRDB.Database
  public typealias SQLExpression = GRDB.SQLExpression
  public typealias Table = GRDB.Table
#endif
