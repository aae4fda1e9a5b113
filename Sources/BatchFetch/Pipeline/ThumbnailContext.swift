internal import CoreMetrics
internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Logging
internal import Synchronization

/// Everything that the jobs of one pipeline share: the table of images and callers, the queues, the cache, the
/// downloader and the renderer.
final class ThumbnailContext: Sendable {
  typealias Table = JobTable<JobKey, ThumbnailJob, ThumbnailCaller>

  /// The most lookups that share a read transaction.
  private static let lookUpGroupLimit = 64

  let jobs = Mutex(Table())
  /// The callers that wait for milestones.
  let room = WaitingRoom<ThumbnailSet>()
  let cache: ThumbnailCache
  /// Nil if there is none.
  let remote: RemoteTier?
  /// The sources that may be in the remote cache.
  let sharing: RemoteSharing
  let downloader: Downloader
  let renderer: Renderer
  let metrics: PipelineMetrics
  /// The digest of the profile of CMYK images without one; empty for none. It is a part of the variant.
  let inks: String
  let budget: ByteBudget
  let mode: CacheMode
  /// The rule for the IP addresses of requests whose options have none.
  let addresses: AddressPolicy
  /// The line of ``addresses`` in the variant; nil for the default rule.
  private let addressLine: String?
  let cacheKeyQuery: CacheKeyQuery
  let files: FileAccess
  let content: ContentRules
  let transport: any Transport
  let now: @Sendable () -> Date
  /// Returns the header fields for a host that differ from the defaults. They are a part of the variant: they decide
  /// which bytes are received.
  let unusualFields: @Sendable (_ host: String) -> [String]
  /// Returns the header fields of every request to a host.
  let usualFields: @Sendable (_ host: String) -> HTTPFields
  /// Returns the number of requests of a host that a batch has in flight.
  let requestsPerHost: @Sendable (_ host: String) -> Int
  /// Calls completions, and continues jobs after their downloads.
  let callbacks = DispatchQueue(label: "thumbs.pipeline", attributes: .concurrent)
  /// Looks up jobs in the disk cache: in groups, and never on a thread that others need.
  let lookUps: BatchingQueue<ThumbnailJob>
  /// Reads kept originals from the disk cache.
  let reads: WorkQueue
  /// Runs the decodes, one image per thread.
  let renders: RenderQueue
  /// True once later requests fail.
  let isShutDown = Atomic(false)
  /// The number of decodes so far.
  let decodeCount = Atomic(0)
  /// The bytes of all bodies downloaded so far.
  let downloadedBytes = Atomic(0)

  init(
    _ configuration: ThumbnailPipeline.Configuration, cache: ThumbnailCache, downloader: Downloader, logger: Logger
  ) {
    let downloads = configuration.downloads
    self.cache = cache
    // With the option for public addresses only, no image of a private network is wanted, from wherever it comes.
    let allowsPrivate = configuration.remoteCache?.allowsPrivateSources == true
    addresses = downloads.limits.addresses
    addressLine = Self.line(for: addresses)
    sharing = RemoteSharing(allowsPrivateSources: allowsPrivate && !addresses.needsAddresses)
    remote = configuration.remoteCache.map { [sharing] in
      RemoteTier(
        $0, sharing, inks: configuration.inks, logger: logger, metrics: downloads.metrics ?? MetricsSystem.factory,
        now: downloads.clock.stopwatch())
    }
    self.downloader = downloader
    transport = downloader.context.transport
    var renderer = Renderer(
      maxPixels: configuration.maxPixels, maxMemory: configuration.maxMemory, inks: configuration.inks,
      isolation: configuration.decoders)
    renderer.failLevel = configuration.failLevel
    renderer.minPixels = configuration.content.minPixels
    renderer.page = configuration.page
    renderer.maxAspectRatio = configuration.content.maxAspectRatio
    metrics = PipelineMetrics(downloads.metrics ?? MetricsSystem.factory)
    self.renderer = renderer
    inks = configuration.inks.map { BodyDigest(of: $0.bytes).description } ?? ""
    let (queue, suspender) = (downloader.context.queue, TransferQueue.Suspender.budget(ObjectIdentifier(room)))
    budget = ByteBudget(limit: configuration.maxBytesInHand) { host, isHeld in
      queue.setHeld(host, isHeld, by: suspender)
    } setSuspended: {
      queue.setSuspended($0, by: suspender)
    }
    mode = configuration.cacheMode
    cacheKeyQuery = configuration.cacheKeyQuery
    files = configuration.files
    content = configuration.content
    now = configuration.downloads.now
    let fields = configuration.downloads.headerFields.accepting(SourceFormat.accept)
    let (usual, rules) = (fields.unusual, configuration.downloads.hosts)
    unusualFields = { host in
      let rule = rules.rule(for: host)
      return rule.headerFields.isEmpty ? usual : rule.headerFields(over: fields).unusual
    }
    usualFields = { rules.rule(for: $0).headerFields(over: fields) }
    lookUps = BatchingQueue(
      configuration.makeThreads("thumbs.lookups", 2), groupLimit: Self.lookUpGroupLimit, handle: ThumbnailJob.lookUp)
    reads = WorkQueue(configuration.makeThreads("thumbs.reads", 2))
    let renderThreads = configuration.renderThreads.clamped(to: ThumbnailPipeline.Configuration.threads)
    renders = RenderQueue(
      width: renderThreads, .owned("thumbs.renders"), now: downloader.context.elapsed
    ) { [downloads = downloader.context] pause, work in _ = downloads.after(pause, work) }
    requestsPerHost = { configuration.requests(of: $0) }
  }

  /// Runs `body` after a pause on the injected clock, unless the task is canceled.
  func after(_ pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    downloader.context.after(pause, body)
  }

  /// The number of images in flight.
  var runningCount: Int { jobs.withLock { $0.count } }

  /// Returns the renderer of requests with these options.
  func renderer(for options: RequestOptions) -> Renderer {
    var renderer = renderer
    renderer.maxPixels = options.maxPixels ?? renderer.maxPixels
    renderer.process = options.process
    renderer.page = page(of: options)
    return renderer
  }

  /// The page of documents that a request with these options wants.
  func page(of options: RequestOptions) -> Int { options.page ?? renderer.page }
}

extension HTTPFields {
  /// The fields that differ from those of a new configuration, and the names of those that are missing.
  fileprivate var unusual: [String] {
    let usual = Downloader.Configuration().headerFields.accepting(SourceFormat.accept)
    let changed = filter { !usual.contains($0) }.map { "\($0.name.canonicalName): \($0.value)" }
    let missing = usual.filter { !contains($0.name) }.map { "without \($0.name.canonicalName)" }
    return (changed + missing).sorted()
  }
}

// Decisions without a job: the validity of a request, its key, and an outcome that is in memory.
extension ThumbnailContext {
  /// Returns everything besides the URL that decides which bytes are received, and which colors they stand for. The
  /// first words of the lines of the transport, the inks, the page, the process, the modifier and the rule for IP
  /// addresses have no colon, so that they are never taken for header fields.
  func variant(_ request: ThumbnailRequest, _ source: SourceURL) -> String {
    let fields = request.variant(of: source, unusualFields: unusualFields(source.host))
    let configuration = transport.variant(of: source)
    let transported = configuration.isEmpty ? fields : "transport \(configuration)\n\(fields)"
    let colored = inks.isEmpty ? transported : "inks \(inks)\n\(transported)"
    let page = page(of: request.options)
    let paged = page == 1 ? colored : "page \(page)\n\(colored)"
    let processed = request.options.process.map { "process \(Self.line(for: $0.id))\n\(paged)" } ?? paged
    let modified = request.options.modifier.map { "modifier \(Self.line(for: $0.id))\n\(processed)" } ?? processed
    let addresses = unusualAddresses(request.options).map { Self.line(for: $0) } ?? addressLine
    return addresses.map { "addresses \($0)\n\(modified)" } ?? modified
  }

  /// Returns a line that stands for a rule for IP addresses; nil for the default rule. An image that one rule has let
  /// in is not served under another one, which may refuse its server.
  private static func line(for addresses: AddressPolicy) -> String? {
    addresses == .noLinkLocal ? nil : line(for: addresses.cacheText)
  }

  /// Returns a line that stands for a text of the program, which may have several lines itself.
  private static func line(for text: String) -> String { BodyDigest(of: Array(text.utf8)).description }

  /// Returns the rule for IP addresses of requests with these options; nil if it is that of the pipeline.
  func unusualAddresses(_ options: RequestOptions) -> AddressPolicy? {
    options.addresses == addresses ? nil : options.addresses
  }

  /// Returns the source of a request and its key. Throws if the request is invalid.
  func identity(of request: ThumbnailRequest) throws(FetchFailure) -> (source: SourceURL, key: JobKey) {
    let source = try request.canonicalURL()
    try (request.options.files ?? files).check(source)
    try renderer.judge(request.specs)
    try request.headerFields.checkFraming()
    return (source, key(of: request, source))
  }

  private func key(of request: ThumbnailRequest, _ source: SourceURL) -> JobKey {
    guard let cacheKey = request.cacheKey ?? cacheKeyQuery.key(of: source) else {
      let key = SourceKey(url: source.description, variant: variant(request, source))
      return JobKey(source: key, url: source.description, isChosen: false, options: request.options)
    }
    // The mark keeps the entry apart from that of a request for a URL that reads like the key.
    let key = SourceKey(url: cacheKey, variant: "key\n\(variant(request, source))")
    return JobKey(source: key, url: cacheKey, isChosen: true, options: request.options)
  }

  /// Returns the outcome of a request if it is in memory; nil if the disk must be read.
  private func outcomeInMemory(
    _ request: ThumbnailRequest, _ key: JobKey
  ) -> Result<ThumbnailSet, FetchFailure>? {
    let begin = ContinuousClock.now
    return cache.memoryEntry(for: key.source, url: key.url, specs: request.specs) { entry in
      outcome(of: entry, request, begin: begin)
    }
  }

  /// Returns the outcome of a request that `entry` serves; nil if the disk or the server is needed.
  func outcome(
    of entry: CacheEntry, _ request: ThumbnailRequest, begin: ContinuousClock.Instant
  ) -> Result<ThumbnailSet, FetchFailure>? {
    let demand = RenderDemand(request)
    let now = now()
    switch CacheDecision(entry, demand, mode: request.options.cacheMode ?? mode, content: content, now: now) {
    case .serve(let image, let origin):
      // A disk lookup puts an image into memory before the rules reject it, so they apply here as well.
      if let failure = content.failure(of: image.source) { return .failure(failure) }
      let timings = Timings(queued: begin.duration(to: .now))
      let served = ServedSource(image, origin: origin, now: now, timings: timings)
      return served.result(for: request.specs, digest: request.digest)
    case .fail(let failure): return .failure(failure)
    case .complete, .fetch: return nil
    }
  }
}

extension Renderer {
  /// Rejects specs that are out of range, before anything is fetched.
  func judge(_ specs: [ThumbnailSpec]) throws(FetchFailure) {
    do throws(ImageError) {
      try check(specs)
    } catch {
      throw FetchFailure(error)
    }
  }
}

extension ThumbnailRequest {
  /// The part of a request by which a server may vary its response (RFC 9111, section 4.1).
  fileprivate func variant(of source: SourceURL, unusualFields: [String]) -> String {
    guard !headerFields.isEmpty || !unusualFields.isEmpty || source.credentials != nil else { return "" }
    let lines = headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    return ([source.credentials ?? ""] + lines + unusualFields).joined(separator: "\n")
  }
}

// MARK: Callers

// The traffic between callers and jobs. Each step changes the table under its lock, and acts after unlocking.
extension ThumbnailContext {
  typealias CallerID = Table.CallerID

  // MARK: From callers to jobs

  /// Serves a caller from memory, or adds it to the job of its image.
  func load(_ request: ThumbnailRequest, _ demand: Demand, for caller: ThumbnailCaller) {
    do throws(FetchFailure) {
      guard !isShutDown.load(ordering: .acquiring) else { throw .cancelled }
      let (source, key) = try identity(of: request)
      if let outcome = outcomeInMemory(request, key) {
        caller.ended(outcome)
      } else {
        join(request, demand, source, key, caller)
      }
    } catch {
      caller.ended(.failure(error))
    }
  }

  private func join(
    _ request: ThumbnailRequest, _ demand: Demand, _ source: SourceURL, _ key: JobKey, _ caller: ThumbnailCaller
  ) {
    let joined = jobs.withLock { jobs -> Table.Joined? in
      // Thread A tries the next mirror here while thread B calls `cancelAll()`: B does not find the caller in any
      // table, but A sees that the epoch has changed.
      guard caller.epoch == room.epoch else { return nil }
      let joined = jobs.join(key, caller, id: CallerID(caller), demand: demand) {
        ThumbnailJob(request, of: source, identity: key, id: $0, in: self)
      }
      // Under the lock: otherwise thread B could end the job before this thread A has marked the caller.
      if !joined.isNew { caller.joinedOthers() }
      return joined
    }
    guard let joined else { return caller.ended(.failure(.cancelled)) }
    if caller.wantsProgress, let progress = joined.job.watch() { caller.progressed(progress) }
    guard joined.isNew else { return joined.job.updateDemand() }
    if demand.isPaused { joined.job.updateDemand() }
    joined.job.start()
  }

  /// Removes a caller, and cancels its job if it was the last one. The caller must have its end already.
  func leave(_ id: CallerID) {
    guard let left = jobs.withLock({ $0.leave(id) }) else { return }
    left.abandoned?.cancel()
    left.remaining?.job.updateDemand()
  }

  /// Changes the demand of a caller.
  func change(_ id: CallerID, _ change: (inout Demand) -> Void) {
    jobs.withLock { $0.change(id, change) }?.job.updateDemand()
  }

  /// Cancels all jobs. Each caller gets `cancelled`.
  func cancelAll() {
    // Callers that wait for milestones come first: the end of another request may be what they wait for.
    room.cancelAll()
    let (jobs, callers) = jobs.withLock { $0.remove() }
    downloader.context.queue.whileFrozen { for job in jobs { job.cancel() } }
    for caller in callers { caller.ended(.failure(.cancelled)) }
  }

  // MARK: From jobs to callers

  /// Returns the demand of a job; nil if it has no callers left.
  func demand(of job: ThumbnailJob) -> RenderDemand? {
    guard let callers = waiting(for: job) else { return nil }
    // The usual case, which need not compare specs.
    if callers.count == 1 { return RenderDemand(callers[0].request) }
    return RenderDemand(callers.map(\.request))
  }

  /// Returns false if a job has no callers left.
  func hasCallers(_ job: ThumbnailJob) -> Bool { jointDemand(of: job) != nil }

  /// The highest priority among the callers of a job, paused if all are; nil if it has no callers left.
  func jointDemand(of job: ThumbnailJob) -> Demand? { jobs.withLock { $0.demand(of: job.id) } }

  func progressed(_ job: ThumbnailJob, _ progress: DownloadProgress) {
    for caller in waiting(for: job) ?? [] { caller.progressed(progress) }
  }

  /// Delivers an outcome to all callers that it serves. Returns true if no caller is left.
  func settle(_ job: ThumbnailJob, _ outcome: Result<ServedSource, FetchFailure>) -> Bool {
    let (served, isOver) = jobs.withLock { jobs in
      jobs.settle(job.id) { outcome.result(for: $0.request) != nil }
    }
    for caller in served {
      if let result = outcome.result(for: caller.request) { caller.ended(result) }
    }
    return isOver
  }

  /// Ends the callers that expect other bytes than those of `download`, which have this `digest`. Returns true if no
  /// caller is left.
  func settle(_ job: ThumbnailJob, expectingOtherThan digest: BodyDigest, _ download: Download) -> Bool {
    let (served, isOver) = jobs.withLock { jobs in
      jobs.settle(job.id) { $0.request.digest.map { $0 != digest } ?? false }
    }
    for caller in served {
      guard let expected = caller.request.digest else { continue }
      var failure = FetchFailure(hash: digest, expected: expected, httpStatus: nil, attempts: download.attempts)
      failure.head = download.head
      caller.ended(.failure(failure))
    }
    return isOver
  }

  private func waiting(for job: ThumbnailJob) -> [ThumbnailCaller]? {
    jobs.withLock { $0.waiting(for: job.id)?.callers }
  }
}

extension Result<ServedSource, FetchFailure> {
  /// Returns the result for the caller of `request`; nil if it does not serve that caller.
  fileprivate func result(for request: ThumbnailRequest) -> Result<ThumbnailSet, FetchFailure>? {
    switch self {
    case .success(let served): served.result(for: request.specs, digest: request.digest)
    case .failure(let failure): .failure(failure)
    }
  }
}

/// The identity of a job: requests with the same key are served by the same work.
struct JobKey: Hashable, Sendable {
  /// The key of the cache entry.
  let source: SourceKey
  /// The URL in the cache entry, or what stands for it.
  let url: String
  /// True if the caller or the pipeline has chosen what stands for the URL.
  let isChosen: Bool
  let options: RequestOptions

  /// Compares the key of the cache entry, which the others follow from, and the options.
  static func == (a: JobKey, b: JobKey) -> Bool { a.source == b.source && a.options == b.options }

  /// Hashes the key of the cache entry only: nearly all requests have the same options.
  func hash(into hasher: inout Hasher) { hasher.combine(source) }
}

extension RenderDemand {
  /// The demand of one caller.
  init(_ request: ThumbnailRequest) {
    self.init(specs: request.specs, digests: request.digest.map { [$0] } ?? [], since: request.since)
  }

  /// The combined demand of the callers with these requests.
  init(_ requests: [ThumbnailRequest]) {
    var known: Set<ThumbnailSpec> = []
    self.init(
      specs: requests.flatMap(\.specs).filter { known.insert($0).inserted },
      digests: Set(requests.compactMap(\.digest)),
      since: requests.allSatisfy { $0.since != nil } ? requests.compactMap(\.since).max() : nil)
  }
}
