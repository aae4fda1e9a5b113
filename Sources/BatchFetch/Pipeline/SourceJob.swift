internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// The way of one source, from the cache to the thumbnails of everyone who waits for it: one look-up, at most one
/// download at a time, one decode for all sizes that are wanted when it begins. Who joins later with another size is
/// served by a further round over the same bytes.
final class SourceJob: Sendable {
  let source: SourceURL
  let key: SourceKey
  let generation: UInt64
  private let headerFields: HTTPFields
  let created: ContinuousClock.Instant
  let pipeline: PipelineCore
  private let running = Mutex(LateToken<DownloadToken>())

  init(_ request: ThumbnailRequest, of source: SourceURL, key: SourceKey, generation: UInt64, in pipeline: PipelineCore)
  {
    self.source = source
    self.key = key
    self.generation = generation
    self.headerFields = request.headerFields
    self.created = .now
    self.pipeline = pipeline
  }

  /// Begins with the look into the cache, which may wait for the disk.
  func start() {
    pipeline.lookUps.async { [self] in lookUp() }
  }

  /// Nobody waits any more.
  func cancel() { running.withLock { $0.cancel() }?.cancel() }

  func setPriority(_ priority: ThumbnailRequest.Priority) {
    running.withLock { $0.current }?.setPriority(priority)
  }

  // MARK: The steps

  private func lookUp() {
    guard let wish = pipeline.wish(for: self, generation) else { return }
    let entry = pipeline.cache.entry(for: key, url: source.description, specs: wish.specs)
    let verdict = CacheVerdict(
      entry, specs: wish.specs, mode: pipeline.mode, since: wish.since, now: pipeline.now())
    switch verdict {
    case .serve(let picture, let origin): serve(picture, origin)
    case .fail(let failure): conclude(.failure(failure))
    case .complete(let source): complete(source, priority: wish.priority)
    case .fetch(let picture): download(confirming: picture, priority: wish.priority)
    }
  }

  /// Makes what is missing from the file itself, if that was kept. It is read when there is room for it in memory.
  private func complete(_ source: StoredSource, priority: ThumbnailRequest.Priority) {
    let bytes = if case .picture(_, _, let bytes) = source.content { bytes } else { 0 }
    pipeline.budget.hold(bytes, whenThereIsRoom: priority) { [self] in
      pipeline.lookUps.async { [self] in completeNow(source, holding: bytes) }
    }
  }

  private func completeNow(_ source: StoredSource, holding bytes: Int) {
    guard let wish = pipeline.wish(for: self, generation) else { return pipeline.budget.release(bytes) }
    let body = pipeline.cache.original(of: source, for: key)
    guard body.isEmpty else { return queue(holding: bytes) { $0.renderRounds(.kept(source, body)) } }
    pipeline.budget.release(bytes)
    if pipeline.mode == .offline {
      conclude(.failure(CacheVerdict.offlineMiss))
    } else {
      download(confirming: nil, priority: wish.priority)
    }
  }

  func download(confirming picture: CachedPicture?, priority: ThumbnailRequest.Priority) {
    var request = DownloadRequest(source: source, headerFields: headerFields, priority: priority)
    for field in picture?.source.policy.conditionalFields ?? [:] { request.headerFields[field.name] = field.value }
    request.inspection = pipeline.inspection
    let round = running.withLock { $0.begin() }
    let token = pipeline.downloader.download(request) { [self] in
      ended(round)
      downloaded($0, confirming: picture)
    }
    // A cancel, or another priority, that came before the token was known has reached nothing yet. Nor may the token be
    // kept when the download has ended by now: job, token and completion would keep one another.
    if running.withLock({ $0.arrive(token, of: round) }) { token.cancel() }
    if let wish = pipeline.wish(for: self, generation), wish.priority != priority { token.setPriority(wish.priority) }
  }

  private func ended(_ round: LateToken<DownloadToken>.Round) {
    // Bound to a name, so that the token's last reference outlives the lock.
    let token = running.withLock { $0.end(round) }
    _ = token
  }

  private func downloaded(_ result: Result<Download, FetchFailure>, confirming picture: CachedPicture?) {
    if case .success(let download) = result {
      pipeline.downloadedBytes.add(download.body.count, ordering: .relaxed)
    }
    switch Settlement(result, confirming: picture, now: pipeline.now()) {
    case .render(let download): render(download)
    case .confirmed(let picture, let download): renew(picture, download)
    case .stale(let picture): serve(picture, .stale)
    case .askAgain: download(confirming: nil, priority: pipeline.wish(for: self, generation)?.priority ?? .normal)
    case .fail(let failure): fail(failure)
    }
  }

  private func renew(_ picture: CachedPicture, _ download: Download) {
    var picture = picture
    picture.source.policy = picture.source.policy.renewed(
      by: download.response, redirects: download.redirects, mayBeStored: download.isCacheable,
      requestedAt: download.requestedAt, respondedAt: download.respondedAt)
    picture.source.obtained = .now
    pipeline.cache.renew(picture.source, for: key)
    serve(picture, .revalidated, download)
  }
}
