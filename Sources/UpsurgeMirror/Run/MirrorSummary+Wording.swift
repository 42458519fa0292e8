extension MirrorSummary.Table {
  /// The outcome of the table in the words of a job file.
  var ofJob: MirrorSummary.Table {
    var table = self
    table.error = error?.ofJob
    for index in loads.indices {
      table.loads[index].error = loads[index].error?.ofJob
      table.loads[index].guardRefusal = loads[index].guardRefusal?.ofJob
    }
    return table
  }
}
