internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// The way of one source, from the cache to the thumbnails of everyone who waits for it: one look-up, at most one
/// download at a time, one decode for all sizes that are wanted when it begins. Who joins later with another size is
/// served by a further round over the same bytes.
final class SourceJob: Sendable {
  private struct State {
    var download: DownloadToken?
    var isCancelled = false
  }

  let source: SourceURL
  let key: SourceKey
  let generation: UInt64
  private let headerFields: HTTPFields
  let created: ContinuousClock.Instant
  let pipeline: PipelineCore
  private let state = Mutex(State())

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
  func cancel() {
    let download = state.withLock { state in
      state.isCancelled = true
      return state.download.take()
    }
    download?.cancel()
  }

  func setPriority(_ priority: ThumbnailRequest.Priority) {
    state.withLock { $0.download }?.setPriority(priority)
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

  /// Makes what is missing from the file itself, if that was kept.
  private func complete(_ source: StoredSource, priority: ThumbnailRequest.Priority) {
    let body = pipeline.cache.original(of: source, for: key)
    if !body.isEmpty {
      queue(holding: body.count) { $0.renderRounds(.kept(source, body)) }
    } else if pipeline.mode == .offline {
      conclude(.failure(CacheVerdict.offlineMiss))
    } else {
      download(confirming: nil, priority: priority)
    }
  }

  func download(confirming picture: CachedPicture?, priority: ThumbnailRequest.Priority) {
    var request = DownloadRequest(source: source, headerFields: headerFields, priority: priority)
    for field in picture?.source.policy.conditionalFields ?? [:] { request.headerFields[field.name] = field.value }
    request.inspection = pipeline.inspection
    let token = pipeline.downloader.download(request) { [self] in downloaded($0, confirming: picture) }
    let isCancelled = state.withLock { state in
      state.download = token
      return state.isCancelled
    }
    // A cancel, or another priority, that came before the token was known has reached nothing yet.
    if isCancelled { token.cancel() }
    if let wish = pipeline.wish(for: self, generation), wish.priority != priority { token.setPriority(wish.priority) }
  }

  private func downloaded(_ result: Result<Download, FetchFailure>, confirming picture: CachedPicture?) {
    state.withLock { $0.download = nil }
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
