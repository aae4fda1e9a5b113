/// A policy for keeping the downloaded files that thumbnails are made from on disk. For those in memory, see
/// ``ThumbnailCache/Configuration/memoryOriginalByteLimit``.
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
    case .share(let percent):
      // In this order, no step overflows.
      max(0, limit) / 100 * percent.clamped + max(0, limit) % 100 * percent.clamped / 100
    }
  }
}

extension Int {
  /// The percentage within its range.
  fileprivate var clamped: Int { Swift.min(Swift.max(self, 0), 100) }
}
