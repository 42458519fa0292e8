// The library's users import one module; these hold the public types that options and summaries are made of.
@_exported import UpsurgeBulk
@_exported import UpsurgeInput
@_exported import UpsurgeParsing
@_exported import UpsurgePlan
@_exported import UpsurgeRecords
@_exported import UpsurgeSQLite
@_exported import UpsurgeState
@_exported import UpsurgeStorage
