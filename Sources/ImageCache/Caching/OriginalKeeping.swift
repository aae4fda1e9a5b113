/// What becomes of the files that thumbnails are made from.
public enum OriginalKeeping: Hashable, Sendable {
  /// They go once their thumbnails are made.
  case none
  /// The disk level keeps them, so that a new size needs no network. They take at most this share of its limit, in
  /// percent, 1 to 100; those that were stored first go first.
  case share(percent: Int)

  /// A fifth of the limit.
  public static let standard = OriginalKeeping.share(percent: 20)

  /// What originals may take of `limit`, in bytes.
  func byteLimit(of limit: Int) -> Int {
    switch self {
    case .none: 0
    case .share(let percent): Int(Double(limit) * Double(min(max(percent, 0), 100)) / 100)
    }
  }
}
