/// Something in a cache that is not as it must be. Reading meets it as a miss.
public struct CacheProblem: Hashable, Sendable {
  /// The kind of a problem, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// SQLite finds the database itself damaged.
    case database
    /// The description of a source fails its checksum.
    case badSource = "bad_source"
    /// A thumbnail fails its checksum.
    case badThumbnail = "bad_thumbnail"
    /// What the source says of the number and size of its thumbnails is not so.
    case wrongCount = "wrong_count"
    /// The totals that statistics show are not those of the sources.
    case wrongTotal = "wrong_total"
    /// Thumbnails, between those of sources, that belong to none.
    case orphans
  }

  /// The kind.
  public var code: Code
  /// The source it is about, where it is about one.
  public var key: SourceKey?
  /// One sentence for a person.
  public var detail: String
}
