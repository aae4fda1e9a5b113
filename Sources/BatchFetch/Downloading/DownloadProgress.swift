internal import HTTPTypes

/// How far a download is, as one caller is told.
///
/// Within one attempt the count only grows. An attempt after an interruption goes on from the bytes that are there
/// where the server allows it, and from zero where it does not.
public struct DownloadProgress: Hashable, Sendable {
  /// Is told how far a download is: at once where it runs already, then at most once an interval
  /// (``Downloader/Configuration/progressInterval``), and last, right before the completion, of the whole body.
  public typealias Handler = @Sendable (DownloadProgress) -> Void

  /// The attempt that brings the bytes, from 1.
  public var attempt: Int
  /// Bytes of the body so far, content codings undone, those of earlier attempts included where they count.
  public var received: Int
  /// The length of the whole body; nil where the server does not tell.
  public var total: Int?

  /// The share that is there, 0...1; nil where the total is not known.
  public var fraction: Double? {
    total.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
  }
}

extension DownloadProgress {
  /// Whether this tells more than `other`, which may come from another thread.
  func isLater(than other: DownloadProgress?) -> Bool {
    guard let other else { return true }
    return (attempt, received) > (other.attempt, other.received)
  }

  /// The progress of a download that is over; nil where it brought no body.
  static func complete(_ result: Result<Download, FetchFailure>) -> DownloadProgress? {
    guard case .success(let download) = result, download.response.status == .ok else { return nil }
    let count = download.body.count
    return DownloadProgress(attempt: download.attempts, received: count, total: count)
  }
}
