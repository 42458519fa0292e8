/// A source that the program itself is.
enum OwnSource: Sendable {
  case bytes(any ByteProducer)
  case records(any RecordProducer)

  var name: String {
    switch self {
    case .bytes(let producer): producer.name
    case .records(let producer): producer.name
    }
  }
}
