/// A policy for the downloaded files that thumbnails are made from.
public enum OriginalPolicy: Hashable, Sendable {
  /// Discards each file once its thumbnails are made.
  case none
  /// Keeps the files on disk, so that a new thumbnail size needs no download. They take at most this percentage of the
  /// disk limit, 1 to 100; the files stored first are evicted first.
  case share(percent: Int)

  /// Keeps originals in at most 20 percent of the disk limit.
  public static let standard = OriginalPolicy.share(percent: 20)

  /// Returns the most bytes that originals may take of a cache limited to `limit` bytes.
  func byteLimit(of limit: Int) -> Int {
    switch self {
    case .none: 0
    case .share(let percent): Int(Double(limit) * Double(min(max(percent, 0), 100)) / 100)
    }
  }
}
