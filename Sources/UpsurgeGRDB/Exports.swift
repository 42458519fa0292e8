#if GRDB
  // What calls take and give. The rest of UpsurgeModels has names that GRDB has, too (`Database`, `Table`): models are declared in
  // files that import it.
  @_exported import Upsurge

  @_exported import struct UpsurgeModels.BulkOptions
  @_exported import struct UpsurgeModels.SweepGuards
  @_exported import struct UpsurgeModels.MirrorResult
  @_exported import struct UpsurgeModels.Returned
  @_exported import struct UpsurgeModels.ReturningRows
  @_exported import struct UpsurgeModels.RowUpdates
  @_exported import enum UpsurgeModels.Sweep
  @_exported import func UpsurgeModels.max
  @_exported import func UpsurgeModels.min
#endif
