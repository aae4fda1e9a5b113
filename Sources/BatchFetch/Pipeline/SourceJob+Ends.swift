internal import Foundation
internal import HTTPTypes
internal import ImageCache

// What is told to those who wait, and kept for those who come.
extension SourceJob {
  func serve(_ picture: CachedPicture, _ origin: ThumbnailSet.Origin, _ download: Download? = nil) {
    let elapsed = download?.elapsed ?? .zero
    let timings = Timings(queued: created.duration(to: .now) - elapsed, download: elapsed)
    let served = ServedSource(picture, origin: origin, timings: timings)
    conclude(.success(download.map { served.answered(by: $0) } ?? served))
  }

  func fail(_ error: ImageError, _ download: Download, _ digest: BodyDigest) {
    var failure = FetchFailure(.image(error.code), error.message, attempts: download.attempts)
    failure.head = download.head
    fail(failure, error.code.isFinal ? digest : nil)
  }

  /// - Parameter digest: Of the whole file, where that alone is the reason.
  func fail(_ failure: FetchFailure, _ digest: BodyDigest? = nil) {
    remember(failure, digest)
    conclude(.failure(failure))
  }

  /// Serves whom the outcome serves. Who came meanwhile with other wishes begins anew.
  func conclude(_ outcome: Result<ServedSource, FetchFailure>) {
    if !pipeline.settle(self, generation, outcome) { start() }
  }

  /// What will still be so in a while is not asked for again: a missing picture, and bytes that are none.
  private func remember(_ failure: FetchFailure, _ digest: BodyDigest?) {
    guard let head = failure.head, failure.code.isLasting else { return }
    let now = pipeline.now()
    let policy = CachePolicy(
      response: head.response, redirects: head.redirects, mayBeStored: head.isCacheable, requestedAt: now,
      respondedAt: now)
    guard let policy else { return }
    let stored = StoredSource(
      url: source.description, finalURL: head.finalURL, status: head.response.status.code, policy: policy,
      content: .failure(code: failure.code.description, message: failure.message, digest: digest), obtained: .now)
    pipeline.cache.store(stored, thumbnails: [], for: key)
  }
}

extension FailureCode {
  /// Whether asking again soon would bring the same.
  fileprivate var isLasting: Bool {
    switch self {
    case .http(404), .http(410), .image(.notAnImage), .image(.unsupportedFormat), .image(.decodeError),
      .image(.decodeLimit):
      true
    default: false
    }
  }
}
