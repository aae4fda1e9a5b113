/// Hears of all downloads of a downloader. Each download has one start and one finish, however many callers share it;
/// what comes between them is in order. All methods have a default that does nothing.
public protocol DownloadObserver: AnyObject, Sendable {
  /// Somebody wants bytes that nobody waited for: a download begins, or waits for its turn.
  func downloadDidStart(_ source: SourceURL)
  /// Bytes came, told at most once an interval (``Downloader/Configuration/progressInterval``).
  func download(_ source: SourceURL, didProgress progress: DownloadProgress)
  /// The download is over: also with `cancelled`, when the last caller left.
  func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>)
}

extension DownloadObserver {
  /// Does nothing.
  public func downloadDidStart(_ source: SourceURL) {}
  /// Does nothing.
  public func download(_ source: SourceURL, didProgress progress: DownloadProgress) {}
  /// Does nothing.
  public func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>) {}
}
