public import Foundation
internal import HTTPTypes
public import ImageCache
public import Logging
internal import Synchronization

/// Gets thumbnails of pictures on the network: from memory, from disk, or by one download and one decode that
/// everyone who wants the same picture shares.
///
/// ```swift
/// let pipeline = ThumbnailPipeline()
/// let icon = try await pipeline.thumbnails(for: ThumbnailRequest(url: address, size: 128))
/// ```
public final class ThumbnailPipeline: Sendable {
  /// Is told what became of a request, exactly once.
  public typealias Completion = @Sendable (Result<ThumbnailSet, FetchFailure>) -> Void

  /// The two-level cache of this pipeline.
  public let cache: ThumbnailCache
  let core: PipelineCore
  private let files: FileAccess
  /// What every request says in another way than usual: a part of what decides which bytes come.
  private let ownFields: [String]
  private let transport: any Transport
  private let callbacks = DispatchQueue(label: "thumbs.pipeline", attributes: .concurrent)
  /// Requests that wait for milestones.
  private let delayed = Mutex<[ObjectIdentifier: DelayedLoad]>([:])

  /// A pipeline. Nothing is read or written before the first request.
  ///
  /// - Parameters:
  ///   - configuration: limits, deadlines, the cache.
  ///   - transport: what moves the bytes; by default libcurl.
  ///   - logger: hears of troubles that do no harm, such as a cache that cannot be written.
  public init(
    _ configuration: Configuration = Configuration(), transport: any Transport = CurlTransport(),
    logger: Logger = Logger(label: "thumbs")
  ) {
    cache = ThumbnailCache(configuration.cache, logger: logger, now: configuration.downloads.now)
    core = PipelineCore(configuration, cache: cache, transport: transport)
    files = configuration.files
    self.transport = transport
    ownFields = configuration.downloads.unusualFields
  }

  /// The number of sources that are on their way.
  public var runningCount: Int { core.jobCount }

  /// The number of pictures decoded so far. A picture that is wanted in several sizes is decoded once.
  public var decodeCount: Int { core.decodeCount.load(ordering: .relaxed) }

  /// The bytes of all bodies downloaded so far. A body that many share counts once.
  public var downloadedBytes: Int { core.downloadedBytes.load(ordering: .relaxed) }

  /// Asks for thumbnails.
  ///
  /// - Parameters:
  ///   - request: what is wanted.
  ///   - queue: where `completion` is called; by default a queue of the pipeline.
  ///   - completion: called exactly once, never before this returns; with `cancelled` after ``FetchToken/cancel()``.
  @discardableResult
  public func load(
    _ request: ThumbnailRequest, on queue: DispatchQueue? = nil, completion: @escaping Completion
  ) -> FetchToken {
    let queue = queue ?? callbacks
    guard request.after.isEmpty else {
      let load = DelayedLoad(request, over: self, on: queue, completion: completion)
      delayed.withLock { $0[ObjectIdentifier(load)] = load }
      return load.start(after: request.after)
    }
    guard request.mirrors.isEmpty else {
      return MirroredLoad(request, over: self, on: queue, completion: completion).start()
    }
    let caller = PipelineCaller(request, on: queue, completion: completion)
    do throws(FetchFailure) {
      let source = try SourceURL(request.url)
      try files.check(source)
      try core.renderer.judge(request.specs)
      try request.headerFields.checkFraming()
      let key = SourceKey(url: source.description, variant: variant(request, source))
      guard let outcome = outcomeInMemory(request, source, key) else {
        return core.join(request, of: source, key: key, as: caller)
      }
      caller.end(outcome)
    } catch {
      caller.end(.failure(error))
    }
    return caller.token
  }

  /// The thumbnails of one request.
  ///
  /// - Throws: why there are none; `cancelled` when the task is cancelled.
  public func thumbnails(for request: ThumbnailRequest) async throws(FetchFailure) -> ThumbnailSet {
    try await CancellableCall.result { completion in load(request, completion: completion).cancel }.get()
  }

  /// Cancels every request, also one that waits for milestones or is part of a batch: each completion gets `cancelled`,
  /// unless its outcome is on its way already. Requests made later are served as ever.
  public func cancelAll() {
    // These first: the end of another request may be what they wait for.
    for load in delayed.withLock({ Array($0.values) }) { load.cancel() }
    core.cancelAll()
  }

  /// `load` waits no longer.
  func forget(_ load: DelayedLoad) {
    // Bound to a name, so that the load's last reference outlives the lock.
    let forgotten = delayed.withLock { $0.removeValue(forKey: ObjectIdentifier(load)) }
    _ = forgotten
  }

  /// Blocks until everything that was stored is on disk. To be called before the process ends.
  public func flush() { cache.flush() }

  /// What beside the address decides which bytes come. The transport's part is the only line whose first word has no colon
  /// and is not "without", so that it is never taken for a header field.
  private func variant(_ request: ThumbnailRequest, _ source: SourceURL) -> String {
    let fields = request.variant(of: source, beside: ownFields)
    let configuration = transport.variant(of: source)
    return configuration.isEmpty ? fields : "transport \(configuration)\n\(fields)"
  }

  /// What memory alone can answer, without a look at the disk.
  private func outcomeInMemory(
    _ request: ThumbnailRequest, _ source: SourceURL, _ key: SourceKey
  ) -> Result<ThumbnailSet, FetchFailure>? {
    let begin = ContinuousClock.now
    guard let entry = cache.memoryEntry(for: key, url: source.description, specs: request.specs) else { return nil }
    let verdict = CacheVerdict(
      entry, specs: request.specs, mode: core.mode, since: request.since, now: core.now())
    switch verdict {
    case .serve(let picture, let origin):
      let timings = Timings(queued: begin.duration(to: .now))
      return ServedSource(picture, origin: origin, timings: timings).set(for: request.specs).map { .success($0) }
    case .fail(let failure): return .failure(failure)
    case .complete, .fetch: return nil
    }
  }
}

extension Renderer {
  /// Refuses specs out of range before anything is fetched.
  fileprivate func judge(_ specs: [ThumbnailSpec]) throws(FetchFailure) {
    do throws(ImageError) {
      try check(specs)
    } catch {
      throw FetchFailure(.image(error.code), error.message)
    }
  }
}

extension Downloader.Configuration {
  /// The fields that differ from those of a new configuration, and the names of those that are left out.
  fileprivate var unusualFields: [String] {
    let usual = Downloader.Configuration().headerFields
    let changed = headerFields.filter { !usual.contains($0) }.map { "\($0.name.canonicalName): \($0.value)" }
    let missing = usual.filter { !headerFields.contains($0.name) }.map { "without \($0.name.canonicalName)" }
    return (changed + missing).sorted()
  }
}

extension ThumbnailRequest {
  /// What beside the address decides which bytes come: what a server may vary its answer by (RFC 9111, section 4.1).
  fileprivate func variant(of source: SourceURL, beside ownFields: [String]) -> String {
    guard !headerFields.isEmpty || !ownFields.isEmpty || source.credentials != nil else { return "" }
    let lines = headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    return ([source.credentials ?? ""] + lines + ownFields).joined(separator: "\n")
  }
}
