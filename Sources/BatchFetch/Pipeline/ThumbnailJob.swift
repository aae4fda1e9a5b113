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
  let slot: TokenSlot
  private let state = Mutex(State())

  init(
    _ request: ThumbnailRequest, of source: SourceURL, identity: JobKey, id: ThumbnailContext.Table.JobID,
    in context: ThumbnailContext
  ) {
    self.source = source
    self.identity = identity
    self.id = id
    self.context = context
    headerFields = request.headerFields
    slot = TokenSlot(priority: request.priority)
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

  // MARK: The download

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
    (request.retry, request.modifier) = (options.retry, options.modifier)
    if let source = image?.source, mode != .refresh, source.policy.isTargetFresh(at: context.now()) {
      request.freshTarget = source.finalURL
    }
    waitForDownload(request)
  }

  /// The key of the cache entry.
  var key: SourceKey { identity.source }

  var options: RequestOptions { identity.options }

  /// Decides when cached entries are served.
  var mode: CacheMode { options.cacheMode ?? context.mode }

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
