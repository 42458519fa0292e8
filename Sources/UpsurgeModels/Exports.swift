// Rules, ledgers, values and errors are those of the engine; a program imports one module.
@_exported import UpsurgeBulk
@_exported import UpsurgePlan
@_exported import UpsurgeRecords
@_exported import UpsurgeSQLite
@_exported import UpsurgeState
@_exported import UpsurgeStorage
