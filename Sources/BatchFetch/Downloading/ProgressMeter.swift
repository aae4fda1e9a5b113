/// Counts what a download has, and says when that is worth telling. A plain value.
struct ProgressMeter {
  private let interval: Duration
  private var current: DownloadProgress?
  private var isWatched = false
  private var lastTold: Duration?

  /// - Parameter interval: the shortest time between two reports.
  init(interval: Duration) { self.interval = interval }

  /// Somebody wants to be told from now on. The result is what is known already.
  mutating func watch() -> DownloadProgress? {
    isWatched = true
    return current
  }

  /// Some bytes came. True when that is to be told; the clock is asked only where somebody listens.
  mutating func record(_ progress: DownloadProgress, now: () -> Duration) -> Bool {
    current = progress
    guard isWatched else { return false }
    let now = now()
    if let lastTold, now - lastTold < interval { return false }
    lastTold = now
    return true
  }
}
