internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// The thumbnails of one source, from which each caller is served the sizes it wants.
struct ServedSource: Sendable {
  /// Everything but the thumbnails.
  private var common: ThumbnailSet
  private let thumbnails: [ThumbnailSpec: Thumbnail]

  /// Creates the result of rendering a download of `source`. A local file has no status.
  ///
  /// - Parameter freshUntil: The end of the freshness of the response.
  init(
    _ rendering: Renderer.Rendering, downloadedFrom source: SourceURL, _ download: Download, _ digest: BodyDigest,
    freshUntil: Date?, timings: Timings
  ) {
    let isFile = source.scheme.isLocal
    common = ThumbnailSet(
      origin: isFile ? .file : .network, thumbnails: [], source: rendering.source, sourceBytes: download.body.count,
      digest: digest, httpStatus: isFile ? nil : download.response.status.code, finalURL: download.finalURL,
      redirects: download.redirects, attempts: download.attempts, freshUntil: rendering.isDamaged ? nil : freshUntil,
      timings: timings, warnings: rendering.warnings)
    thumbnails = Dictionary(rendering.thumbnails.map { ($0.spec, $0) }) { $1 }
  }

  /// Creates the result of serving a cached image at `now`, without a request.
  init(_ image: CachedImage, origin: ThumbnailSet.Origin, now: Date, timings: Timings) {
    // An image that stands in for an error is not current, even if its response is still fresh.
    let freshUntil = origin == .stale ? nil : image.source.policy.freshUntil(at: now)
    common = ThumbnailSet(
      origin: origin, thumbnails: [], source: image.image, sourceBytes: image.bytes, digest: image.digest,
      finalURL: image.source.finalURL, freshUntil: freshUntil, timings: timings)
    thumbnails = image.thumbnails
  }

  /// Creates the result of rendering an original that the cache has kept, at `now` and without a request.
  init(
    _ rendering: Renderer.Rendering, keptFrom source: StoredSource, _ body: [UInt8], in tier: CacheEntry.Tier,
    now: Date, timings: Timings
  ) {
    // The cache has compared the digest of the original with that of the source.
    let digest = source.digest ?? BodyDigest(of: body)
    common = ThumbnailSet(
      origin: tier == .memory ? .memory : .disk, thumbnails: [], source: rendering.source, sourceBytes: body.count,
      digest: digest, finalURL: source.finalURL, freshUntil: source.policy.freshUntil(at: now), timings: timings,
      warnings: rendering.warnings)
    thumbnails = Dictionary(rendering.thumbnails.map { ($0.spec, $0) }) { $1 }
  }

  /// Returns the same thumbnails, with the response that confirmed them.
  func confirmed(by download: Download) -> ServedSource {
    var confirmed = self
    let response = download.isTargetReused ? download.redirects.last?.response : download.response
    confirmed.common.httpStatus = response?.status.code
    confirmed.common.finalURL = download.finalURL
    confirmed.common.redirects = download.redirects
    confirmed.common.attempts = download.attempts
    return confirmed
  }

  /// Returns the result for a caller of `specs`; nil if a thumbnail is missing.
  ///
  /// - Parameter digest: the digest that the caller expects; nil for any.
  func result(for specs: [ThumbnailSpec], digest: BodyDigest?) -> Result<ThumbnailSet, FetchFailure>? {
    if let digest, digest != common.digest { return .failure(mismatch(with: digest)) }
    var set = common
    set.thumbnails = specs.compactMap { thumbnails[$0] }
    return set.thumbnails.count == specs.count ? .success(set) : nil
  }

  private func mismatch(with expected: BodyDigest) -> FetchFailure {
    FetchFailure(
      hash: common.digest, expected: expected, httpStatus: common.httpStatus, attempts: common.attempts)
  }
}
