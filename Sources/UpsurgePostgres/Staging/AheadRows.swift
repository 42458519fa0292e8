import UpsurgeRecords

/// How all records of a batch are encoded and put in order, so that this can be done while the batch before is stored.
struct RowRecipe {
  /// No two recipes of a table have the same.
  let number: Int
  let shape: RecordShape
  let slots: [Int]
  let arrangement: RowArrangement
}

/// The records of a batch that is stored later, as they will be sent; see `BatchWriter`.
final class AheadRows {
  let recipe: RowRecipe
  var rows: BatchRows

  init(_ recipe: RowRecipe) {
    self.recipe = recipe
    rows = BatchRows(recipe.shape, slots: recipe.slots)
  }

  /// Rows of its recipe that hold nothing yet.
  func emptyRows() -> BatchRows { BatchRows(recipe.shape, slots: recipe.slots) }

  /// Encodes all records of a batch.
  func prepare(_ batch: borrowing Batch) {
    rows.prepare(batch, 0..<batch.recordCount, only: nil, recipe.arrangement)
  }

  /// The batch is stored, or others are in it.
  func forget() { rows.forget() }
}
