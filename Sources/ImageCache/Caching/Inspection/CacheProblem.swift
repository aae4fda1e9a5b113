/// A defect found in a cache. Lookups treat defective entries as misses.
public struct CacheProblem: Hashable, Sendable {
  /// The kind of problem, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// SQLite reports the database itself as damaged.
    case database
    /// A source record fails its checksum.
    case badSource = "bad_source"
    /// A thumbnail fails its checksum.
    case badThumbnail = "bad_thumbnail"
    /// The number or size of a source's thumbnails differs from its record.
    case wrongCount = "wrong_count"
    /// The stored totals differ from the sums over all sources.
    case wrongTotal = "wrong_total"
    /// Some thumbnails belong to no source.
    case orphans
  }

  /// The kind of problem.
  public var code: Code
  /// The affected source; nil if the problem is not about one source.
  public var key: SourceKey?
  /// One sentence for people.
  public var detail: String
}
