/// One caller's hold on a download that others may share.
public struct DownloadToken: Sendable {
  let call: DownloadCall
  let downloader: Downloader

  /// How the download ended for this caller; nil before its completion is called.
  public var result: Result<Download, FetchFailure>? { call.outcome }

  /// Gives up this caller's wish: its completion gets `cancelled`, and nothing else once this has returned, unless it
  /// is being called already. The last caller to leave cancels the download itself.
  public func cancel() { downloader.cancel(call) }

  /// Changes how urgent it is for this caller. Among several callers the most urgent one counts.
  public func setPriority(_ priority: ThumbnailRequest.Priority) { downloader.change(call) { $0.priority = priority } }

  /// Can do without the bytes for now. When all callers of a download can, its connection is closed, what came is
  /// kept in memory, and others of the same host take its place.
  public func pause() { downloader.change(call) { $0.isPaused = true } }

  /// Wants the bytes again. The download waits in the queue of its host, then goes on where it was, if the server has
  /// a strong validator (RFC 9110, 8.8.1) and the bytes have not changed; from the start otherwise.
  public func resume() { downloader.change(call) { $0.isPaused = false } }
}
