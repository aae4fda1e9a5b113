internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// What the jobs of one pipeline share: the table of who waits for what, the queues, and the floors below.
final class PipelineCore: Sendable {
  /// What those who wait for one source want together.
  struct Wish {
    var specs: [ThumbnailSpec]
    /// Nil as soon as one of them accepts only what is fresh.
    var since: ContinuousClock.Instant?
    var priority: ThumbnailRequest.Priority
  }

  let cache: ThumbnailCache
  let downloader: Downloader
  let renderer: Renderer
  let budget: ByteBudget
  let mode: CacheMode
  let now: @Sendable () -> Date
  /// Looks into the disk cache: a few at a time, and never on a thread that others need.
  let lookUps = WorkQueue(label: "thumbs.lookups", width: 2)
  /// One decode a thread.
  let renders = OperationQueue()
  /// Decodes so far.
  let decodeCount = Atomic(0)
  /// Bytes of the bodies downloaded so far.
  let downloadedBytes = Atomic(0)
  private let jobs = Mutex(InFlight<SourceKey, SourceJob, PipelineCaller>())

  init(_ configuration: ThumbnailPipeline.Configuration, cache: ThumbnailCache, transport: any Transport) {
    var downloads = configuration.downloads
    downloads.files = configuration.files
    let downloader = Downloader(downloads, transport: transport)
    self.cache = cache
    self.downloader = downloader
    renderer = Renderer(maxPixels: configuration.maxPixels)
    budget = ByteBudget(limit: configuration.maxBytesInHand) { downloader.isSuspended = $0 }
    mode = configuration.cacheMode
    now = configuration.downloads.now
    renders.name = "thumbs.renders"
    renders.maxConcurrentOperationCount = configuration.renderThreads.clamped(
      to: ThumbnailPipeline.Configuration.threads)
  }

  /// The number of sources on their way.
  var jobCount: Int { jobs.withLock { $0.count } }

  /// Judges a picture by its first bytes.
  var inspection: DownloadRequest.Inspection {
    { [renderer] bytes throws(FetchFailure) in
      do throws(ImageError) {
        return try renderer.judge(prefix: bytes.span) != nil
      } catch {
        throw FetchFailure(.image(error.code), error.message)
      }
    }
  }

  /// Joins the job of `key`, or starts it. The result leaves it again.
  func join(_ request: ThumbnailRequest, of source: SourceURL, key: SourceKey, as caller: PipelineCaller) -> FetchToken
  {
    let joined = jobs.withLock { jobs in
      jobs.join(key, caller, wish: .init(priority: request.priority)) { generation in
        SourceJob(request, of: source, key: key, generation: generation, in: self)
      }
    }
    if joined.isNew { joined.work.start() } else { joined.work.setPriority(joined.wish.priority) }
    let id = joined.id
    return FetchToken(
      cancel: { [weak self] in
        // First: an end that was taken out of the table, but not told yet, must not be a success any more.
        caller.cancel()
        self?.leave(key, id)
      },
      setPriority: { [weak self] in self?.setPriority($0, key, id) })
  }

  /// What is wanted of a job now; nil when nobody waits for it.
  func wish(for job: SourceJob, _ generation: UInt64) -> Wish? {
    guard let (callers, priority) = jobs.withLock({ $0.waiting(for: job.key, generation: generation) }) else {
      return nil
    }
    var known: Set<ThumbnailSpec> = []
    let specs = callers.flatMap(\.specs).filter { known.insert($0).inserted }
    let since = callers.allSatisfy { $0.since != nil } ? callers.compactMap(\.since).max() : nil
    return Wish(specs: specs, since: since, priority: priority)
  }

  /// Tells an outcome to everyone whom it serves. True when nobody waits any more.
  func settle(_ job: SourceJob, _ generation: UInt64, _ outcome: Result<ServedSource, FetchFailure>) -> Bool {
    let (served, isOver) = jobs.withLock { jobs in
      jobs.settle(job.key, generation: generation) { caller in
        outcome.result(for: caller.specs) != nil
      }
    }
    for caller in served {
      if let result = outcome.result(for: caller.specs) { caller.end(result) }
    }
    return isOver
  }

  /// Ends every job. Each caller is told `cancelled`.
  func cancelAll() {
    let (abandoned, callers) = jobs.withLock { $0.removeAll() }
    for job in abandoned { job.cancel() }
    for caller in callers { caller.end(.failure(.cancelled)) }
  }

  private func leave(_ key: SourceKey, _ id: UInt64) {
    guard let left = jobs.withLock({ $0.leave(key, id) }) else { return }
    left.abandoned?.cancel()
    if let (job, wish) = left.remaining { job.setPriority(wish.priority) }
    left.caller.end(.failure(.cancelled))
  }

  private func setPriority(_ priority: ThumbnailRequest.Priority, _ key: SourceKey, _ id: UInt64) {
    let changed = jobs.withLock { $0.change(key, id) { $0.priority = priority } }
    if let (job, wish) = changed { job.setPriority(wish.priority) }
  }
}

extension Result<ServedSource, FetchFailure> {
  /// What the outcome is to someone who wants `specs`; nil where it is nothing yet.
  fileprivate func result(for specs: [ThumbnailSpec]) -> Result<ThumbnailSet, FetchFailure>? {
    switch self {
    case .success(let served): served.set(for: specs).map { .success($0) }
    case .failure(let failure): .failure(failure)
    }
  }
}
