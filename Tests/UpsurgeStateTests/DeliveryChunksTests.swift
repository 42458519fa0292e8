import Testing
import UpsurgeRecords

@testable import UpsurgeState

@Suite("What the threads of a run tell each other of chunks") struct DeliveryChunksTests {
  private let chunk = SnapshotChunk(place: 1, byteCount: 10, head: 1, hash: nil, lineCount: 1, recordCount: 1)

  private func chunks(_ manifest: ChunkManifest?) -> DeliveryChunks {
    DeliveryChunks(manifest: manifest, fingerprint: "f", keyCells: [0], chunkLimit: 100, keyLimit: 100)
  }

  @Test("New chunks in front of the first known one are written when that has come, and not where none comes")
  func waiting() {
    let manifest = ChunkManifest(fingerprint: "f", details: "", recordCount: 1, chunks: [chunk])
    let made = [DeliveryChunks.Made(chunk: chunk, keys: [])]
    let found = chunks(manifest)
    #expect(found.add(made) && !found.hasMade)
    found.skip([0])
    #expect(found.hasMade && found.takeMade().count == 1)
    let changed = chunks(manifest)
    #expect(changed.add(made) && !changed.hasMade)
    changed.noteReadingAll()
    #expect(!changed.hasMade && changed.takeMade().isEmpty)
    // A delivery that is read as a whole, to be remembered, writes them as they come.
    let first = chunks(nil)
    #expect(first.add(made) && first.hasMade)
  }
}
