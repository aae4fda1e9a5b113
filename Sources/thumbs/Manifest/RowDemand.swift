/// A demand on rows, besides that they are valid.
enum RowDemand: Hashable, Sendable {
  case none
  /// Each has the digest of its image.
  case digest
}
