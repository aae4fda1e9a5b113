/// An event of a download, however many callers share it.
public enum DownloadEvent: Sendable {
  /// A new download was created. It may wait for its turn before its first attempt.
  case started(SourceURL)
  /// Bytes were received. At most one per interval (``Downloader/Configuration/progressInterval``).
  case progressed(SourceURL, DownloadProgress)
  /// The download has ended, with `cancelled` if its last caller has left.
  case finished(SourceURL, Result<Download, FetchFailure>)
}

extension Downloader {
  /// The events of all downloads from now on, beginning with the start of each that is in flight. Each use makes a new
  /// stream, which ends when the downloader is released or when its reader stops. Events that are not read take memory.
  ///
  /// ```swift
  /// for await case .progressed(let source, let progress) in downloader.events {
  ///   print(source, progress.received)
  /// }
  /// ```
  public var events: AsyncStream<DownloadEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: DownloadEvent.self)
    let observer = EventObserver(continuation)
    addObserver(observer)
    context.keep(observer)
    continuation.onTermination = { [weak context, weak observer] _ in
      guard let context, let observer else { return }
      context.drop(observer)
    }
    return stream
  }
}

/// Passes events on to a stream, which ends with it.
final class EventObserver: DownloadObserver {
  private let continuation: AsyncStream<DownloadEvent>.Continuation

  init(_ continuation: AsyncStream<DownloadEvent>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  func downloadDidStart(_ source: SourceURL) { continuation.yield(.started(source)) }

  func download(_ source: SourceURL, didProgress progress: DownloadProgress) {
    continuation.yield(.progressed(source, progress))
  }

  func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>) {
    continuation.yield(.finished(source, result))
  }
}
