public import Foundation
public import ImageCache
public import Logging
internal import Synchronization

/// Makes thumbnails of images on the network: from memory, from disk, or with one download and one decode, shared by
/// all callers that want the same image.
///
/// Callers at the same time share a download whatever sizes they want. A size that is wanted later needs another one,
/// unless the cache keeps downloaded files: on disk with the setting `originals` of the cache, or in memory with
/// `memoryOriginalByteLimit`. Both are off by default.
///
/// ```swift
/// let pipeline = ThumbnailPipeline()
/// let request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
/// let set = try await pipeline.thumbnails(for: request)
/// print(set.origin, set.thumbnails[0].bytes.count)
/// ```
public final class ThumbnailPipeline: Sendable {
  /// Receives the outcome of a request, exactly once.
  public typealias Completion = @Sendable (Result<ThumbnailSet, FetchFailure>) -> Void

  /// The cache in memory and on disk of this pipeline.
  public let cache: ThumbnailCache
  let context: ThumbnailContext

  /// Creates a pipeline. Nothing is read or written before the first request.
  ///
  /// - Parameters:
  ///   - configuration: limits, deadlines, the cache.
  ///   - transport: exchanges requests and responses. Default: libcurl.
  ///   - logger: receives problems that fail no request, such as a cache that cannot be written.
  public convenience init(
    _ configuration: Configuration = Configuration(), transport: any Transport = CurlTransport(),
    logger: Logger = Logger(label: "thumbs")
  ) {
    var downloads = configuration.downloads
    downloads.files = configuration.files
    self.init(configuration, over: Downloader(downloads, transport: transport), logger: logger)
  }

  /// Creates a pipeline that downloads with `downloader`, for example one that another pipeline has: the limits per
  /// host then hold for both.
  ///
  /// - Parameters:
  ///   - configuration: the cache and rendering. Its ``Configuration/downloads`` and ``Configuration/files`` are those
  ///     of `downloader`.
  ///   - downloader: downloads the images.
  ///   - logger: receives problems that fail no request, such as a cache that cannot be written.
  public init(_ configuration: Configuration, over downloader: Downloader, logger: Logger = Logger(label: "thumbs")) {
    var configuration = configuration
    configuration.downloads = downloader.context.configuration
    configuration.files = downloader.context.configuration.files
    cache = ThumbnailCache(
      configuration.cache, logger: logger, metrics: configuration.downloads.metrics, now: configuration.downloads.now)
    context = ThumbnailContext(configuration, cache: cache, downloader: downloader, logger: logger)
  }

  /// The number of images in flight.
  public var runningCount: Int { context.runningCount }

  /// The number of images decoded so far. An image that is wanted in several sizes is decoded once.
  public var decodeCount: Int { context.decodeCount.load(ordering: .relaxed) }

  /// The total size of the bodies downloaded so far, in bytes. A body that several callers with the same options share
  /// counts once.
  public var downloadedBytes: Int { context.downloadedBytes.load(ordering: .relaxed) }

  /// Requests thumbnails.
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - queue: where the closures are called. Default: a queue of the pipeline.
  ///   - progress: receives the progress of the download, if there is one, and never after `completion` was called.
  ///     Default: none.
  ///   - completion: called exactly once, never before this returns; with `cancelled` after
  ///     ``ThumbnailToken/cancel()``.
  @discardableResult
  public func load(
    _ request: ThumbnailRequest, on queue: DispatchQueue? = nil, progress: DownloadProgress.Handler? = nil,
    completion: @escaping Completion
  ) -> ThumbnailToken {
    let caller = makeCaller(
      request, on: .queue(queue ?? context.callbacks), progress: progress, completion: completion)
    caller.start(after: request.after)
    return ThumbnailToken(caller: caller)
  }

  /// Returns the thumbnails of one request.
  ///
  /// - Throws: the failure; `cancelled` if the task is canceled.
  public func thumbnails(for request: ThumbnailRequest) async throws(FetchFailure) -> ThumbnailSet {
    try await CancellableCall.result { completion in WorkHandle(load(request, completion: completion)) }.get()
  }

  /// Cancels all requests, including those that wait for milestones and those of batches. Each completion gets
  /// `cancelled`, unless its outcome is being delivered already. Later requests are not affected.
  public func cancelAll() { context.cancelAll() }

  /// True between ``suspend()`` and ``resume()``.
  public var isSuspended: Bool { context.budget.isSuspended }

  /// Starts no transfer and reads no kept original until ``resume()``: for a caller that cannot take more results now.
  /// Running transfers continue, and one that is about to start may still start. Thumbnails in the cache are served as
  /// before. Has no effect if suspended. Pipelines that share the downloader wait as well.
  public func suspend() { context.budget.suspend() }

  /// Ends a suspension, if there is one.
  public func resume() { context.budget.resume() }

  /// The counts of what happened with the remote cache so far; nil if there is none.
  public var remoteCounters: RemoteCacheCounters? { context.remote?.counters }

  /// Blocks until everything that was stored is on disk, and was uploaded to the remote cache if there is one. Call it
  /// before the process ends. In an asynchronous function, `await pipeline.flush()` blocks no thread.
  ///
  /// - Parameter limit: The maximum time to wait for uploads, of which the time that lookups in the remote cache have
  ///   cost is a part. What is left then is dropped, and so is everything if no upload has succeeded for two seconds,
  ///   or while lookups skip the server. Default 10 s.
  public func flush(uploadingWithin limit: Duration = .seconds(10)) {
    cache.flush()
    context.remote?.flush(within: limit)
  }

  /// Drops all uploads to the remote cache, those that come later included. A `flush` that waits for them ends. For a
  /// process that must end soon.
  public func dropUploads() { context.remote?.dropUploads() }

  /// Records the hits and misses so far in the cache directory, for `thumbs cache stats`. Call it once, before the
  /// process ends.
  public func recordRun() { cache.recordRun() }

  /// Makes a caller that has not started yet.
  func makeCaller(
    _ request: ThumbnailRequest, on place: ThumbnailCaller.Place, progress: DownloadProgress.Handler? = nil,
    completion: @escaping Completion
  ) -> ThumbnailCaller {
    context.group.enter()
    return ThumbnailCaller(request, in: context, on: place, progress: progress, completion: completion)
  }
}
