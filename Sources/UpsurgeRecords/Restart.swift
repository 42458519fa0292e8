/// Where the reading of a source can begin again: the start of a batch, as its parser and its source stood there.
///
/// A resumed run goes to `byte`, gives the parser its state back, and leaves out the records that are committed.
package struct Restart: Sendable, Equatable {
  /// Offset in the decoded stream of the first byte to parse.
  package var byte: UInt64
  package var parser: ParserState
  package var anchor: SourceAnchor

  package init(byte: UInt64, parser: ParserState, anchor: SourceAnchor) {
    self.byte = byte
    self.parser = parser
    self.anchor = anchor
  }
}

/// What a parser knows between two records.
package struct ParserState: Sendable, Equatable {
  /// Physical line of the next byte, from 1.
  package var line: UInt64
  /// Records that came before it, rejected ones too.
  package var recordCount: UInt64
  /// What else the parser must know, as separate JSON; empty before all that a source holds.
  package var details: String

  package init(line: UInt64 = 1, recordCount: UInt64 = 0, details: String = "") {
    self.line = line
    self.recordCount = recordCount
    self.details = details
  }
}

/// A place where a decompressor can begin: the start of a file, of a zstd frame or of a gzip member.
package struct SourceAnchor: Sendable, Equatable {
  /// Offset in the file as it lies there, from the first byte that a run reads of it.
  package var fileOffset: UInt64
  /// Offset in the decoded stream of the first byte that comes out of it.
  package var decodedOffset: UInt64

  package init(fileOffset: UInt64 = 0, decodedOffset: UInt64 = 0) {
    self.fileOffset = fileOffset
    self.decodedOffset = decodedOffset
  }
}
