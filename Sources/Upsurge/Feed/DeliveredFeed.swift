import UpsurgeInput
import UpsurgeSQLite

/// What a delivery says of its feed while it is read, and whether it is still the feed that it was.
///
/// A header says what the fields are before the first record. Of JSON, and of a delivery of several files, that is known at
/// its end only, before the commit.
package final class DeliveredFeed: Sendable {
  private struct State {
    var shape: FeedShape?
    var dialect: CSVDialect?
    /// Sources whose records say themselves what they have.
    var untoldSources: Set<Int> = []
    /// Columns in slot order, and those that no record has had so far.
    var columns: [String] = []
    var unseen: [Int] = []
    var gone: [String] = []
    var reread = Reread.none
  }

  /// How the delivery has to be read once more.
  package enum Reread: Sendable, Equatable {
    case none
    /// From its first record: the load has gone on after a commit, and only all of it says whether fields are gone.
    case all
    /// With these columns as NULL.
    case nulling([String])
  }

  let rules: FeedRules
  private let options: LoadOptions
  private let state = Guarded(State())

  init?(_ options: LoadOptions) {
    guard let rules = options.delivery.feed else { return nil }
    self.rules = rules
    self.options = options
  }

  /// What is to be known of the feed from now on, if the delivery is accepted; nil where it was not read.
  package var shape: FeedShape? {
    state.withLock { state in
      guard var shape = state.shape?.keeping(rules.last, used: state.dialect) else { return nil }
      // What is NULL from now on is so also in the rows that come later.
      if rules.policy == .null { shape.fields += gone(from: shape.fields) }
      return shape
    }
  }

  /// The fields that a header lacks, and that are to be NULL.
  var goneToNull: [String] { rules.policy == .null ? state.withLock { $0.gone } : [] }

  package var reread: Reread { state.withLock { $0.reread } }

  /// Whether any of the records say themselves what they have.
  var isUntold: Bool { state.withLock { !$0.untoldSources.isEmpty } }

  private func gone(from fields: [String]) -> [String] { rules.gone(from: fields, options: options) }

  // MARK: - The reading thread

  /// Takes a source that is about to be read.
  /// - Parameter isOnly: whether it is all of the delivery.
  /// - Returns: the fields that it lacks, as far as that is known.
  func add(_ source: PreparedSource, index: Int, isOnly: Bool) -> [String] {
    let shape = source.feedShape(options: options)
    let dialect = source.dialect
    return state.withLock { state in
      if source.toldFields == nil { state.untoldSources.insert(index) }
      if var sum = state.shape, sum != shape {
        let known = Set(sum.fields.map(SQLName.folded))
        sum.fields += shape.fields.filter { !known.contains(SQLName.folded($0)) }
        state.shape = sum.format == nil ? shape : sum
        state.shape?.fields = sum.fields
      } else {
        state.shape = shape
      }
      state.dialect = state.dialect ?? dialect
      return isOnly && source.toldFields != nil ? gone(from: shape.fields) : []
    }
  }

  // MARK: - The writing thread

  func begin(columns: [String]) {
    state.withLock { state in
      state.columns = columns
      state.unseen = Array(columns.indices)
    }
  }

  /// Sees which columns the records of a batch have.
  func observe(_ batch: borrowing Batch) {
    let source = batch.origin.sourceIndex
    state.withLock { state in
      for column in batch.newColumns {
        state.unseen.append(state.columns.count)
        state.columns.append(column.name)
      }
      guard state.untoldSources.contains(source), batch.recordCount > 0 else { return }
      let (cells, width, count) = (batch.cells, batch.columnCount, batch.recordCount)
      let isFull = !batch.hasAbsentCells
      state.unseen.removeAll { slot in
        if slot >= width { return false }
        return isFull || (0..<count).contains { cells[$0 * width + slot].kind != .absent }
      }
    }
  }

  /// The records were packed without being seen one by one: all columns come from them.
  func observeAll() { state.withLock { $0.unseen = [] } }

  /// Judges a delivery whose fields are known at its end.
  /// - Parameters:
  ///   - isPart: whether records were not read, as they are known or committed.
  ///   - hasRecords: whether there was any.
  /// - Returns: the fields that are gone.
  func judge(isPart: Bool, hasRecords: Bool) -> [String] {
    state.withLock { state in
      guard !state.untoldSources.isEmpty else {
        guard let shape = state.shape else { return [] }
        return gone(from: shape.fields)
      }
      let unseen = Set(state.unseen)
      let wanted = Set(options.table.columns.map(SQLName.folded))
      var fields = state.shape?.fields ?? []
      var known = Set(fields.map(SQLName.folded))
      for (slot, column) in state.columns.enumerated() where !unseen.contains(slot) && !options.table.isAdded(column) {
        let field = FeedRules.field(of: column, options: options)
        let isTaken = wanted.isEmpty || wanted.contains(SQLName.folded(field))
        if isTaken, known.insert(SQLName.folded(field)).inserted { fields.append(field) }
      }
      let gone = hasRecords ? gone(from: fields) : []
      // What nobody has looked for stays.
      let stays = !hasRecords || isPart || rules.isDelta && rules.policy != .accept
      state.shape?.fields = fields + (stays ? self.gone(from: fields) : [])
      return rules.isDelta && isPart ? [] : gone
    }
  }

  func noteGone(_ fields: [String]) { state.withLock { $0.gone = fields } }

  func ask(for reread: Reread) { state.withLock { $0.reread = reread } }

  /// Whether records of another delivery have a field that those of this one lack.
  func lacksFields(of other: DeliveredFeed) -> Bool {
    guard let (mine, others) = shape.flatMap({ mine in other.shape.map { (mine, $0) } }) else { return false }
    let known = Set(mine.fields.map(SQLName.folded))
    return others.fields.contains { !known.contains(SQLName.folded($0)) }
  }
}
