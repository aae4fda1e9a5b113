/// The number of all rows of a run, as far as it is known.
enum RowTotal: Hashable, Sendable {
  /// Nothing is known: the rows come from a pipe, or reading has just begun.
  case unknown
  /// An estimate, from the part of the manifests that has been read.
  case about(Int)
  /// The exact number.
  case exactly(Int)

  /// The number; nil if it is unknown.
  var count: Int? {
    switch self {
    case .unknown: nil
    case .about(let count), .exactly(let count): count
    }
  }

  /// Returns the number of rows in one of `shards` parts, which are of about the same size.
  func part(of shards: Int) -> RowTotal { shards == 1 ? self : count.map { .about($0 / shards) } ?? .unknown }
}
