extension InferredColumn {
  /// Takes over what another source says of the column.
  /// - Parameter isKey: whether it identifies rows, so that integers among reals keep how they are written only as text.
  mutating func join(_ other: InferredColumn, isKey: Bool) {
    let joined = type.joined(with: other.type)
    type = isKey && joined == .real && type != other.type ? .text : joined
    respelled = respelled ?? other.respelled
    if declaredType != other.declaredType { declaredType = nil }
    if sourceType != other.sourceType { sourceType = nil }
  }
}
