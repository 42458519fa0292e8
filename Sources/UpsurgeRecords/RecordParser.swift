/// Turns the decoded bytes of one source into records; does no input or output and is resumable at any byte.
///
/// The caller fills `batch.arena`, calls `parse`, and hands the batch on when `parse` has made all the records
/// it can: what is left after `batch.parsedByteCount` goes to the next batch with `takeTail(of:)`.
/// A parser keeps the line number, the record number and its columns between calls; everything else of a
/// record that is not complete is forgotten and read again from the record's first byte.
package protocol RecordParser {
  /// Columns that the records have so far, in slot order: cell `c` of a record belongs to `columns[c]`.
  var columns: [ColumnTarget] { get }

  /// Where it is requested, `parse` soon ends as if more bytes were needed, also inside a record; the caller asks it
  /// then.
  var cancellation: ReadCancellation? { get set }

  /// Appends records until the arena is used up, the batch has no more room, or an incomplete record is
  /// reached. Calls `batch.begin(columnCount:)` itself when the batch has no record yet.
  ///
  /// Records that cannot be stored are appended to `batch.rejects`. With `isFinal` the arena holds the end of
  /// the source, and what is incomplete then is a reject or an error.
  /// - Throws: `badInput` when the source cannot be read on at all (broken JSON document).
  mutating func parse(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError)

  /// Gives up on the record at `batch.parsedByteCount`, which is larger than `limit` bytes: appends a
  /// `too-large` reject that names the option, and skips to a place where parsing can go on.
  mutating func rejectTooLarge(_ batch: inout Batch, limit: Int) throws(UpsurgeError)

  /// What must be known to go on with the byte at `batch.parsedByteCount`; nil inside something that has to be read
  /// from its start. Asked once a batch, so that it allocates nothing as a rule.
  var state: ParserState? { get }

  /// Makes a new parser go on where another one, with the same options, was when it gave its `state`.
  /// - Throws: `guardRefused` when the state is not one of this parser's.
  mutating func resume(from state: ParserState) throws(UpsurgeError)
}

extension ParserState {
  /// A state that cannot be given back to a parser.
  package func error(file: String) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the place in \(file.escapedForTerminal) that an earlier run had reached cannot be understood",
      position: Position(file: file, line: line), snippet: String(details.escapedForTerminal.prefix(120)),
      hint:
        "\(.resume, "never") reads the input from its start; without a key, delete first what that run has stored")
  }
}
