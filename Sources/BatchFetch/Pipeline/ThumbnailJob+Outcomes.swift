internal import Foundation
internal import HTTPTypes
internal import ImageCache

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
    fail(failure, error.code.isFinal ? digest : nil)
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
    guard let head = failure.head, failure.code.isLasting, failure.origin == .file else { return }
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

extension FailureCode {
  /// True if another request soon would fail in the same way.
  fileprivate var isLasting: Bool {
    switch self {
    case .http(404), .http(410), .rejectedHash, .image(.notAnImage), .image(.unsupportedFormat), .image(.decodeError),
      .image(.decodeLimit):
      true
    default: false
    }
  }
}
