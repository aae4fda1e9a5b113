internal import Dispatch
public import Foundation
public import ImageCache
public import Logging
internal import Synchronization

#if ServiceLifecycle
  public import ServiceLifecycle
#endif

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
    let caller = makeCaller(request, on: queue.map { .queue($0) }, progress: progress, completion: completion)
    caller.start(after: request.after)
    return ThumbnailToken(caller: caller.caller)
  }

  /// Returns the thumbnails of one request.
  ///
  /// ```swift
  /// let urgency = Mutex<ThumbnailToken?>(nil)
  /// async let set = pipeline.thumbnails(for: request, token: { token in urgency.withLock { $0 = token } })
  /// urgency.withLock { $0?.setPriority(.high) }
  /// print(try await set.thumbnails.count)
  /// ```
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - progress: the stream that receives the progress of the download, if there is one. It is finished when the
  ///     request ends. Default nil: none.
  ///   - token: receives the token of the request before it ends, for a priority that changes. Default: nothing.
  /// - Throws: the failure; `cancelled` if the task is canceled.
  public func thumbnails(
    for request: ThumbnailRequest, progress: AsyncStream<DownloadProgress>.Continuation? = nil,
    token: (ThumbnailToken) -> Void = { _ in }
  ) async throws(FetchFailure) -> ThumbnailSet {
    defer { progress?.finish() }
    let span = RequestSpan(of: request)
    let outcome = await CancellableCall.result { completion in
      let started = load(request, progress: progress.handler, completion: completion)
      token(started)
      return WorkHandle(started)
    }
    span.end(with: outcome)
    return try outcome.get()
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

  /// Makes a caller that has not started yet. Without `place`, its closures are called on a queue of the pipeline.
  func makeCaller(
    _ request: ThumbnailRequest, on place: Caller<ThumbnailSet>.Place? = nil, progress: DownloadProgress.Handler? = nil,
    completion: @escaping Completion
  ) -> ThumbnailCaller {
    ThumbnailCaller(
      request, in: context, on: place ?? .queue(context.callbacks), progress: progress, completion: completion)
  }
}

// MARK: Downloads

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

// MARK: Main actor

extension ThumbnailPipeline {
  /// Requests thumbnails for code of the main actor, such as a view.
  ///
  /// ```swift
  /// let token = pipeline.load(request, isolation: MainActor.shared) { outcome in
  ///   self.icon = try? outcome.get().thumbnails[0]
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives the progress of the download, if there is one, and never after `completion` was called.
  ///     Default: none.
  ///   - completion: called exactly once, never before this returns; with `cancelled` after
  ///     ``ThumbnailToken/cancel()``.
  @discardableResult
  public func load(
    _ request: ThumbnailRequest, isolation actor: MainActor, progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<ThumbnailSet, FetchFailure>) -> Void
  ) -> ThumbnailToken {
    load(
      request, on: .main, progress: MainHandler.calling(ifAny: progress), completion: MainHandler.calling(completion))
  }
}

// MARK: Actors

extension ThumbnailPipeline {
  /// Requests thumbnails for code of an actor.
  ///
  /// ```swift
  /// pipeline.load(request, isolation: album) { album, outcome in
  ///   album.cover = try? outcome.get().thumbnails[0]
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - actor: the actor on which the closures are called, one at a time. ``group`` does not wait for that.
  ///   - progress: receives the progress of the download, if there is one, and never after `completion` was called.
  ///     Default: none.
  ///   - completion: called exactly once, never before this returns; with `cancelled` after
  ///     ``ThumbnailToken/cancel()``.
  @discardableResult
  public func load<Isolation: Actor>(
    _ request: ThumbnailRequest, isolation actor: Isolation,
    progress: (@Sendable (isolated Isolation, DownloadProgress) -> Void)? = nil,
    completion: @escaping @Sendable (isolated Isolation, Result<ThumbnailSet, FetchFailure>) -> Void
  ) -> ThumbnailToken {
    let calls = ActorCalls(on: actor)
    return load(request, progress: calls.calling(ifAny: progress), completion: calls.callingLast(completion))
  }
}

// MARK: Memory

// Results that need no waiting.
extension ThumbnailPipeline {
  /// Returns the thumbnails of a request that are in memory, at once: for a table cell that has to show something now.
  /// Makes no request, and reads nothing from disk.
  ///
  /// ```swift
  /// cell.show(pipeline.cached(request) ?? placeholder)
  /// ```
  ///
  /// - Parameter request: The image and the sizes. Its mirrors, its milestones and its priority are ignored.
  /// - Returns: Nil if a size is not in memory, if the entry is stale or has other bytes than the request expects, if
  ///   the source is known to fail, and for an invalid request. ``load(_:on:progress:completion:)`` finds out more.
  public func cached(_ request: ThumbnailRequest) -> ThumbnailSet? { context.thumbnailsInMemory(request) }
}

extension ThumbnailContext {
  /// Returns the thumbnails of a request that are in memory; nil if the disk or the server is needed, and for failures.
  fileprivate func thumbnailsInMemory(_ request: ThumbnailRequest) -> ThumbnailSet? {
    guard let key = try? identity(of: request).key else { return nil }
    let begin = ContinuousClock.now
    return cache.memoryEntry(for: key.source, url: key.url, specs: request.specs) { entry in
      let set = try? outcome(of: entry, request, begin: begin)?.get()
      return set?.origin == .stale ? nil : set
    }
  }
}

// MARK: Ending

// Waiting for the end of requests and of writes, and the end of the pipeline itself.
extension ThumbnailPipeline {
  /// A group that is empty while no caller waits for a completion.
  public var group: CompletionGroup { CompletionGroup(context.room.group) }

  /// Returns when every request has ended and every completion has returned. A paused request has not ended.
  public func waitUntilFinished() async { await group.finished() }

  /// Ends the pipeline, for a service that stops: later requests fail with `cancelled`, those in flight get some time,
  /// and what was stored is written.
  ///
  /// ```swift
  /// await pipeline.shutdown(within: .seconds(5))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The time for requests in flight. Those that are left then are canceled, paused ones too. Default 10 s.
  ///   - uploads: The time for uploads to the remote cache after that. Default 2 s.
  public func shutdown(within limit: Duration = .seconds(10), uploadingWithin uploads: Duration = .seconds(2)) async {
    context.isShutDown.store(true, ordering: .releasing)
    let timer = context.after(limit) { [context] in context.cancelAll() }
    await waitUntilFinished()
    timer.cancel()
    await flush(uploadingWithin: uploads)
  }

  /// Returns when everything that was stored is on disk, and was uploaded to the remote cache if there is one. It does
  /// the same as the blocking method, and blocks no thread of Swift concurrency. Canceling the task does not end it.
  ///
  /// - Parameter limit: The maximum time to wait for uploads, as in the blocking method. Default 10 s.
  public func flush(uploadingWithin limit: Duration = .seconds(10)) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        // Without a context that can await, this is the blocking method.
        flush(uploadingWithin: limit)
        continuation.resume()
      }
    }
  }
}

// MARK: Service

#if ServiceLifecycle
  /// A pipeline as one of the services of a program, with the trait `ServiceLifecycle`. `Examples/Service` has one.
  ///
  /// A group stops its services in reverse order. A server that waits for its requests comes before the pipeline, which
  /// then ends them.
  public struct PipelineService: Service {
    private let pipeline: ThumbnailPipeline
    private let limit: Duration

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - pipeline: the pipeline, whose requests fail with `cancelled` after its shutdown.
    ///   - limit: the time for requests in flight at a graceful shutdown. Default 10 s.
    public init(_ pipeline: ThumbnailPipeline, within limit: Duration = .seconds(10)) {
      self.pipeline = pipeline
      self.limit = limit
    }

    /// Returns when the pipeline has ended and what it stored is on disk: after a graceful shutdown, or when the task
    /// is canceled, which leaves requests in flight no time.
    public func run() async {
      try? await gracefulShutdown()
      await withTaskCancellationHandler {
        await pipeline.shutdown(within: limit)
      } onCancel: {
        pipeline.cancelAll()
      }
    }
  }
#endif
