// The downloads of a pipeline, which other pipelines may share.
extension ThumbnailPipeline {
  /// The downloader of this pipeline. Give it to another pipeline, and both keep its limits per host together; or
  /// download other files with it.
  public var downloader: Downloader { context.downloader }

  /// The events of all downloads of ``downloader`` from now on; see ``Downloader/events``.
  public var events: AsyncStream<DownloadEvent> { downloader.events }

  /// Notifies `observer` of all downloads of ``downloader``; see ``Downloader/addObserver(_:)``.
  public func addObserver(_ observer: any DownloadObserver) { downloader.addObserver(observer) }

  /// Stops notifying `observer`.
  public func removeObserver(_ observer: any DownloadObserver) { downloader.removeObserver(observer) }
}
