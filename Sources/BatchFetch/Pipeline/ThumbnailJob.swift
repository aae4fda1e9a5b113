internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// All work for the thumbnails of one source, from the cache to the last caller: one lookup, at most one download at a
/// time, and one decode for all sizes that are wanted when it begins. Callers that join later with other sizes are
/// served by another round over the same bytes.
final class ThumbnailJob: Sendable {
  private struct State {
    /// The cached image that the current download may confirm.
    var candidate: CachedImage?
    /// The number of attempts made by downloads that have ended.
    var attempts = 0
    var progress: DownloadProgress?
    var isWatched = false
    /// The objects that the remote cache has; nil if it was not looked up.
    var finding: RemoteFinding?
  }

  let source: SourceURL
  let identity: JobKey
  let id: ThumbnailContext.Table.JobID
  let created = ContinuousClock.now
  let context: ThumbnailContext
  let headerFields: HTTPFields
  /// Holds the place where the job waits: for a thread that looks up, for room, for the download, or for a thread that
  /// renders.
  let slot: TaskHandleSlot
  private let state = Mutex(State())

  /// The key of the cache entry.
  var key: SourceKey { identity.source }

  var options: RequestOptions { identity.options }

  /// Decides when cached entries are served.
  var mode: CacheMode { options.cacheMode ?? context.mode }

  init(
    _ request: ThumbnailRequest, of source: SourceURL, identity: JobKey, id: ThumbnailContext.Table.JobID,
    in context: ThumbnailContext
  ) {
    self.source = source
    self.identity = identity
    self.id = id
    self.context = context
    var headerFields = request.headerFields
    if let referer = request.referer, headerFields[.referer] == nil, context.usualFields(source.host)[.referer] == nil {
      headerFields[.referer] = referer
    }
    self.headerFields = headerFields
    slot = TaskHandleSlot(priority: request.priority)
  }

  /// Begins with the lookup in the cache, which may wait for the disk.
  func start() {
    waitForLookUp()
  }

  /// Gives up the place where the job waits, or cancels the download: no caller is left.
  func cancel() { slot.cancel() }

  /// Passes the demand of the callers on to the place where the job waits.
  func updateDemand() {
    // Thread A passes on an older demand after thread B has passed on a newer one. Then A looks again, finds the newer
    // one and passes that on.
    var known: Demand?
    while let demand = context.jointDemand(of: self), demand != known {
      if demand.priority != known?.priority { slot.setPriority(demand.priority) }
      if demand.isPaused != known?.isPaused { slot.setPaused(demand.isPaused) }
      known = demand
    }
  }

  /// Reports progress from now on. Returns the progress so far.
  func watch() -> DownloadProgress? {
    let (progress, wasWatched) = state.withLock { state in
      defer { state.isWatched = true }
      return (state.progress, state.isWatched)
    }
    guard !wasWatched, let first = context.downloader.context.watch(DownloadContext.CallerID(self)) else {
      return progress
    }
    return record(first)
  }

  /// The objects that the remote cache has; nil if it was not looked up.
  var finding: RemoteFinding? {
    get { state.withLock { $0.finding } }
    set { state.withLock { $0.finding = newValue } }
  }
}

// MARK: Looking up

// The first step: the lookup in the cache, and what follows from the entry.
extension ThumbnailJob {
  /// Looks up several jobs of one pipeline at once, which costs less than one after the other.
  static func lookUp(_ jobs: [ThumbnailJob]) {
    guard let context = jobs.first?.context else { return }
    for job in jobs { job.slot.end() }
    let wanted = jobs.compactMap { job in context.demand(of: job).map { (job: job, demand: $0) } }
    let lookups = wanted.map { job, demand in
      CacheLookup(key: job.key, url: job.identity.url, specs: demand.specs)
    }
    let entries = context.cache.entries(for: lookups)
    OutcomeGroup.run {
      for ((job, demand), entry) in zip(wanted, entries) { job.found(entry, for: demand) }
    }
  }

  private func found(_ entry: CacheEntry?, for demand: RenderDemand) {
    let decision = CacheDecision(
      entry, demand, mode: mode, failLevel: context.renderer.failLevel, content: context.content,
      now: context.now())
    switch decision {
    case .serve(let image, let origin): serve(image, origin)
    case .fail(let failure): conclude(.failure(failure))
    case .complete(let source): complete(source)
    case .fetch(let image?) where isUnchangedFile(image, demand): serve(image, .revalidated)
    case .fetch(let image): lookUpRemotely(demand.specs, confirming: image)
    }
  }

  /// Returns true if the source is a local file that has not changed since `image` was made of it. This takes a
  /// fraction of the time of a transfer. Blocks for a system call.
  private func isUnchangedFile(_ image: CachedImage, _ demand: RenderDemand) -> Bool {
    guard source.scheme == .file, mode != .refresh, demand.accepts(image.source), let tag = source.fileEntityTag else {
      return false
    }
    return image.source.policy.conditionalFields[.ifNoneMatch] == tag
  }

  /// Renders the missing sizes from the original, if the cache has kept it. The original is taken from memory, or read
  /// from disk, when there is room for it among the bytes in hand.
  private func complete(_ source: StoredSource) {
    if let failure = context.content.failure(of: source) { return conclude(.failure(failure)) }
    let bytes = if case .image(_, _, let bytes) = source.content { bytes } else { 0 }
    waitForRoom(bytes) { job in
      let body = job.context.cache.memoryOriginal(of: source, for: job.key)
      if body.isEmpty {
        job.wait(in: job.context.reads, holding: bytes) { $0.readOriginal(of: source, holding: bytes) }
      } else {
        job.queue(holding: bytes) { $0.renderRounds(.kept(source, body, .memory)) }
      }
    }
  }

  private func readOriginal(of source: StoredSource, holding bytes: Int) {
    guard let demand = context.demand(of: self) else { return context.budget.release(bytes) }
    let body = context.cache.original(of: source, for: key)
    guard body.isEmpty else { return queue(holding: bytes) { $0.renderRounds(.kept(source, body, .disk)) } }
    context.budget.release(bytes)
    if mode == .offline {
      conclude(.failure(CacheDecision.offlineMiss))
    } else {
      lookUpRemotely(demand.specs, completing: source)
    }
  }
}

// MARK: The download

extension ThumbnailJob {
  /// Downloads the source.
  ///
  /// - Parameter image: The cached image to confirm; nil to download in any case.
  func download(confirming image: CachedImage?) {
    state.withLock { $0.candidate = image }
    var request = DownloadRequest(source: source, headerFields: headerFields)
    for field in image?.source.policy.conditionalFields ?? [:] { request.headerFields[field.name] = field.value }
    request.accept = SourceFormat.accept
    request.responses = .image
    request.inspection = inspection
    request.inspectionID = options.maxPixels
    (request.limits, request.addresses) = (options.limits, options.addresses)
    request.files = options.files
    (request.retry, request.modifier) = (options.retry, options.modifier)
    if let source = image?.source, mode != .refresh, source.policy.isTargetFresh(at: context.now()) {
      request.freshTarget = source.finalURL
    }
    waitForDownload(request)
  }

  /// Inspects the first bytes of a body: throws if they are not those of a supported image.
  private var inspection: DownloadRequest.Inspection {
    { [renderer = context.renderer(for: options)] bytes throws(FetchFailure) in
      do throws(ImageError) {
        return try renderer.judge(prefix: bytes.span) != nil
      } catch {
        throw FetchFailure(error)
      }
    }
  }

  private func downloaded(_ result: Result<Download, FetchFailure>) {
    if case .success(let download) = result {
      context.downloadedBytes.add(download.body.count, ordering: .relaxed)
    }
    let image = state.withLock { $0.candidate.take() }
    // All callers left while the download was ending: there is no one to decode for.
    guard context.hasCallers(self) else { return }
    switch ResponseDecision(result, confirming: image, now: context.now()) {
    case .render(let download): render(download)
    case .confirmed(let image, let download): revalidated(image, download)
    case .reused(let image, let download): reused(image, download)
    case .stale(let image): serve(image, .stale)
    case .requestAgain: download(confirming: nil)
    case .fail(let failure): fail(failure)
    }
  }

  /// Serves a cached image whose redirects were requested again. Its freshness stays the same.
  private func reused(_ image: CachedImage, _ download: Download) {
    var image = image
    image.source.obtained = .now
    context.cache.update(image.source, for: key)
    serve(image, .revalidated, download)
  }

  private func revalidated(_ image: CachedImage, _ download: Download) {
    var image = image
    image.source.policy = image.source.policy.revalidated(
      by: download.response, redirects: download.redirects.map(\.response), mayBeStored: download.isCacheable,
      mayBeShared: context.sharing.allows(download.head, from: source), requestedAt: download.requestedAt,
      respondedAt: download.respondedAt)
    image.source.obtained = .now
    context.cache.update(image.source, for: key)
    upload(image.source, Array(image.thumbnails.values))
    serve(image, .revalidated, download)
  }
}

extension ThumbnailJob: DownloadSubscriber {
  /// True if one of the callers wants progress.
  var wantsProgress: Bool { state.withLock { $0.isWatched } }

  func progressed(_ progress: DownloadProgress) {
    let total = record(progress)
    if wantsProgress { context.progressed(self, total) }
  }

  /// Records progress, with the attempts of earlier downloads of this job.
  private func record(_ progress: DownloadProgress) -> DownloadProgress {
    state.withLock { state in
      var total = progress
      total.attempt += state.attempts
      state.progress = total
      return total
    }
  }

  func ended(_ result: Result<Download, FetchFailure>) {
    state.withLock { $0.attempts += result.attempts }
    slot.end()
    // The thread that ends downloads must not wait for the cache.
    context.callbacks.async { [self] in downloaded(result) }
  }
}

extension Result<Download, FetchFailure> {
  fileprivate var attempts: Int {
    switch self {
    case .success(let download): download.attempts
    case .failure(let failure): failure.attempts
    }
  }
}

// MARK: Rendering

extension ThumbnailJob {
  /// Bytes to render, and their origin.
  enum Material: Sendable {
    case downloaded(Download, BodyDigest)
    case kept(StoredSource, [UInt8], CacheEntry.Tier)

    var body: [UInt8] {
      switch self {
      case .downloaded(let download, _): download.body
      case .kept(_, let body, _): body
      }
    }
  }

  /// Renders a downloaded body, unless nobody wants these bytes, or the cache knows that they cannot be decoded.
  func render(_ download: Download) {
    context.budget.hold(download.body.count, of: source.host)
    queue(holding: download.body.count, of: source.host) { job in
      let digest = BodyDigest(of: download.body)
      if job.context.settle(job, expectingOtherThan: digest, download) { return }
      if var failure = job.context.content.failure(of: digest) {
        (failure.head, failure.attempts) = (download.head, download.attempts)
        job.fail(failure, digest)
      } else if let error = job.context.cache.imageError(of: digest),
        !job.context.renderer.failLevel.tolerates(error.code)
      {
        job.fail(error, download, digest)
      } else {
        job.renderRounds(.downloaded(download, digest))
      }
    }
  }

  /// Runs `work` on the threads that render, then releases the bytes held for it, and for this host.
  func queue(holding bytes: Int, of host: String? = nil, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    waitToRender(holding: bytes, of: host) { job in
      defer { job.context.budget.release(bytes, of: host) }
      work(job)
    }
  }

  /// Renders until no caller is left: callers that join during a round may want other sizes.
  private func renderRounds(_ material: Material) {
    var isOver = false
    while !isOver, let demand = context.demand(of: self) {
      let begin = ContinuousClock.now
      do throws(ImageError) {
        context.decodeCount.add(1, ordering: .relaxed)
        let rendering = try context.renderer(for: options).render(material.body, specs: demand.specs)
        isOver = context.settle(self, .success(stored(rendering, material, begin: begin)))
      } catch {
        switch material {
        case .downloaded(let download, let digest): return fail(error, download, digest)
        case .kept: return failed(error)
        }
      }
    }
  }

  /// Handles an error of a kept original: it breaks a limit, or is damaged.
  private func failed(_ error: ImageError) {
    if [.tooManyPixels, .tooFewPixels, .tooLong, .noPage].contains(error.code) {
      conclude(.failure(FetchFailure(error)))
    } else if mode == .offline {
      conclude(.failure(CacheDecision.offlineMiss))
    } else {
      download(confirming: nil)
    }
  }

  /// Stores thumbnails in the cache, and returns what the callers are served from.
  private func stored(
    _ rendering: Renderer.Rendering, _ material: Material, begin: ContinuousClock.Instant
  ) -> ServedSource {
    switch material {
    case .downloaded(let download, let digest):
      let source = storedSource(rendering.source, download, digest)
      if !rendering.isDamaged {
        context.cache.store(source, thumbnails: rendering.thumbnails, original: download.body, for: key)
        upload(source, rendering.thumbnails)
      }
      let timings = Timings(
        queued: created.duration(to: begin) - download.elapsed, download: download.elapsed,
        render: begin.duration(to: .now))
      context.metrics.rendered(timings)
      return ServedSource(
        rendering, downloadedFrom: self.source, download, digest,
        freshUntil: source.policy.freshUntil(at: context.now()), timings: timings)
    case .kept(let source, let body, let tier):
      // Larger thumbnails may need damaged data that smaller ones do not.
      if !rendering.isDamaged {
        context.cache.store(source, thumbnails: rendering.thumbnails, for: key)
        upload(rendering.thumbnails, of: source)
      }
      let timings = Timings(queued: created.duration(to: begin), render: begin.duration(to: .now))
      context.metrics.rendered(timings)
      return ServedSource(rendering, keptFrom: source, body, in: tier, now: context.now(), timings: timings)
    }
  }

  private func storedSource(_ image: SourceImage, _ download: Download, _ digest: BodyDigest) -> StoredSource {
    StoredSource(
      url: identity.url, finalURL: download.finalURL, status: download.response.status.code,
      policy: .ofAny(
        response: download.response, redirects: download.redirects.map(\.response),
        mayBeStored: download.isCacheable, mayBeShared: context.sharing.allows(download.head, from: source),
        requestedAt: download.requestedAt, respondedAt: download.respondedAt),
      content: .image(image, digest: digest, bytes: download.body.count), obtained: .now)
  }
}

// MARK: Outcomes

// The outcomes: delivered to the callers, and remembered in the cache.
extension ThumbnailJob {
  func serve(_ image: CachedImage, _ origin: ThumbnailSet.Origin, _ download: Download? = nil) {
    if let failure = context.content.failure(of: image.source) { return conclude(.failure(failure)) }
    let elapsed = download?.elapsed ?? .zero
    let timings = Timings(queued: created.duration(to: .now) - elapsed, download: elapsed)
    context.metrics.served(timings)
    let served = ServedSource(image, origin: origin, now: context.now(), timings: timings)
    conclude(.success(download.map { served.confirmed(by: $0) } ?? served))
  }

  func fail(_ error: ImageError, _ download: Download, _ digest: BodyDigest) {
    var failure = FetchFailure(error, attempts: download.attempts)
    failure.head = download.head
    fail(failure, error.isFinal ? digest : nil)
  }

  /// - Parameter digest: The digest of the file, if the failure depends on its bytes alone.
  func fail(_ failure: FetchFailure, _ digest: BodyDigest? = nil) {
    remember(failure, digest)
    conclude(.failure(failure))
  }

  /// Delivers an outcome. If it does not serve callers that have joined with other sizes, the job starts over for them.
  func conclude(_ outcome: Result<ServedSource, FetchFailure>) {
    guard !context.settle(self, outcome) else { return }
    updateDemand()
    start()
  }

  /// Caches lasting failures (404, 410, bytes that cannot be decoded), so that they are not requested again soon.
  private func remember(_ failure: FetchFailure, _ digest: BodyDigest?) {
    guard let head = failure.head, failure.code.isLasting else { return }
    // The failure may be a warning, which other runs ignore.
    if context.renderer.failLevel == .warning, failure.code == .image(.decodeError) { return }
    let now = context.now()
    let policy = CachePolicy(
      response: head.response, redirects: head.redirects.map(\.response), mayBeStored: head.isCacheable,
      mayBeShared: context.sharing.allows(head, from: source), requestedAt: now, respondedAt: now)
    guard let policy else { return }
    let stored = StoredSource(
      url: identity.url, finalURL: head.finalURL, status: head.response.status.code, policy: policy,
      content: .failure(code: failure.code.description, message: failure.message, digest: digest), obtained: .now)
    context.cache.store(stored, thumbnails: [], for: key)
    // Other machines may have other rules.
    if failure.code != .rejectedHash { upload(stored, []) }
  }
}

// MARK: Waiting

// The places where a job waits, one at a time. At each of them the slot passes on the highest priority among the
// callers, now and after each change, and gives up the place when the last caller leaves.
extension ThumbnailJob {
  /// Joins a group of lookups.
  private func waitForLookUp() {
    slot.run { demand in context.lookUps.append(self, demand.priority) }
  }

  /// Runs `work` on a thread that renders, when its turn comes.
  ///
  /// - Parameters:
  ///   - bytes: the bytes held for the work. They are released if the job gives up its place; otherwise `work` must
  ///     release them.
  ///   - host: the host for which they are held; nil for none.
  ///   - work: called once, unless the job gives up its place.
  private func waitToRender(holding bytes: Int, of host: String?, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { [context] demand in
      let giveUp = { @Sendable in context.budget.release(bytes, of: host) }
      return context.renders.async(demand.priority, of: source.host, onCancel: giveUp) { [self] in
        slot.end()
        work(self)
      }
    }
  }

  /// Runs `work` when its turn comes.
  ///
  /// - Parameters:
  ///   - queue: the queue to wait in.
  ///   - bytes: the bytes held for the work. They are released if the job gives up its place; otherwise `work` must
  ///     release them. Default 0.
  ///   - work: called once, on a thread of the queue, unless the job gives up its place.
  func wait(in queue: WorkQueue, holding bytes: Int = 0, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { [context] demand in
      let giveUp = { @Sendable in context.budget.release(bytes) }
      return queue.async(demand.priority, onCancel: giveUp) { [self] in
        slot.end()
        work(self)
      }
    }
  }

  /// Runs `work`, which must not block, when there is room for `bytes` in memory. They are held from then on.
  func waitForRoom(_ bytes: Int, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { demand in
      context.budget.hold(bytes, whenThereIsRoom: demand.priority) { [self] in work(self) }
    }
  }

  /// Joins the download of `request`. Its end is reported to ``ended(_:)``.
  private func waitForDownload(_ request: DownloadRequest) {
    let (downloads, id) = (context.downloader.context, DownloadContext.CallerID(self))
    slot.run { demand in
      downloads.join(request, self, demand: demand)
      return WorkHandle {
        downloads.leave(id)
      } setPriority: { priority in
        downloads.change(id) { $0.priority = priority }
      } setPaused: { isPaused in
        downloads.change(id) { $0.isPaused = isPaused }
      }
    }
  }
}
