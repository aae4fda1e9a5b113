internal import HTTPTypes

/// The progress of a download, as one caller sees it.
///
/// Within one attempt the count only grows. An attempt after a failure continues from the bytes received before if the
/// server allows it, and otherwise starts from zero. A download that resumes after a pause continues its attempt; if
/// the server sends its first bytes again, nothing is reported until there are more than before.
public struct DownloadProgress: Hashable, Sendable {
  /// Receives progress: immediately if the download is running already, then at most once per interval
  /// (``Downloader/Configuration/progressInterval``), and last, right before the completion, for the whole body.
  public typealias Handler = @Sendable (DownloadProgress) -> Void

  /// The number of the current attempt, from 1. Each failure that is retried begins a new one.
  public var attempt: Int
  /// The bytes of the body so far, after content decoding, including bytes kept from earlier attempts.
  public var received: Int
  /// The length of the whole body in bytes; nil if the server does not declare it.
  public var total: Int?

  /// Creates progress from its parts, for tests of code that shows it.
  public init(attempt: Int, received: Int, total: Int? = nil) {
    self.attempt = attempt
    self.received = received
    self.total = total
  }

  /// The fraction received, 0...1; nil if the total is unknown.
  public var fraction: Double? {
    total.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
  }
}

extension DownloadProgress {
  /// Returns true if this is later than `other`, which may come from another thread.
  func isLater(than other: DownloadProgress?) -> Bool {
    guard let other else { return true }
    return (attempt, received) > (other.attempt, other.received)
  }

  /// Returns the final progress of a download; nil if it has no body.
  static func complete(_ result: Result<Download, FetchFailure>) -> DownloadProgress? {
    guard case .success(let download) = result, download.response.status.kind == .successful else { return nil }
    let count = download.length
    guard count > 0 || download.response.status == .ok else { return nil }
    return DownloadProgress(attempt: download.attempts, received: count, total: count)
  }
}

extension Optional where Wrapped == AsyncStream<DownloadProgress>.Continuation {
  /// A closure that adds progress to the stream; nil if there is no stream.
  var handler: DownloadProgress.Handler? {
    guard let stream = self else { return nil }
    return { progress in stream.yield(progress) }
  }
}

/// Decides when the progress of a download is reported. A plain value.
struct ProgressThrottle {
  private let interval: Duration
  private var current: DownloadProgress?
  private var isWatched = false
  private var lastReport: Duration?

  /// - Parameter interval: The shortest time between two reports.
  init(interval: Duration) { self.interval = interval }

  /// Reports progress from now on. Returns the progress so far.
  mutating func watch() -> DownloadProgress? {
    isWatched = true
    return current
  }

  /// Records progress, unless it is behind earlier progress. Returns true if it is to be reported. The clock is read
  /// only if someone watches.
  mutating func record(_ progress: DownloadProgress, now: () -> Duration) -> Bool {
    guard progress.isLater(than: current) else { return false }
    current = progress
    guard isWatched else { return false }
    let now = now()
    if let lastReport, now - lastReport < interval { return false }
    lastReport = now
    return true
  }
}
