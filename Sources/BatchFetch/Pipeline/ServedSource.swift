internal import HTTPTypes
internal import ImageCache

/// A source whose thumbnails are there: what everyone who waits for it gets, before each picks the sizes it wants.
struct ServedSource: Sendable {
  /// All but the thumbnails.
  private var common: ThumbnailSet
  private let thumbnails: [ThumbnailSpec: Thumbnail]

  /// From a download of `source`. A file has neither a status nor a network.
  init(_ rendering: Renderer.Rendering, downloadedFrom source: SourceURL, _ download: Download, timings: Timings) {
    let isFile = source.scheme == .file
    common = ThumbnailSet(
      origin: isFile ? .file : .network, thumbnails: [], source: rendering.source, sourceBytes: download.body.count,
      httpStatus: isFile ? nil : download.response.status.code, finalURL: download.finalURL,
      attempts: download.attempts, timings: timings, warnings: rendering.warnings)
    thumbnails = Dictionary(rendering.thumbnails.map { ($0.spec, $0) }) { $1 }
  }

  /// From the cache, without a word of a server.
  init(_ picture: CachedPicture, origin: ThumbnailSet.Origin, timings: Timings) {
    common = ThumbnailSet(
      origin: origin, thumbnails: [], source: picture.image, sourceBytes: picture.bytes, httpStatus: nil,
      finalURL: picture.source.finalURL, attempts: 0, timings: timings, warnings: [])
    thumbnails = picture.thumbnails
  }

  /// From a file that the cache had kept, without a word of a server.
  init(_ rendering: Renderer.Rendering, keptFrom source: StoredSource, timings: Timings) {
    let bytes = if case .picture(_, _, let bytes) = source.content { bytes } else { 0 }
    common = ThumbnailSet(
      origin: .disk, thumbnails: [], source: rendering.source, sourceBytes: bytes, httpStatus: nil,
      finalURL: source.finalURL, attempts: 0, timings: timings, warnings: rendering.warnings)
    thumbnails = Dictionary(rendering.thumbnails.map { ($0.spec, $0) }) { $1 }
  }

  /// The same, after the server was asked.
  func answered(by download: Download) -> ServedSource {
    var answered = self
    answered.common.httpStatus = download.response.status.code
    answered.common.finalURL = download.finalURL
    answered.common.attempts = download.attempts
    return answered
  }

  /// The set for one caller; nil where a thumbnail is missing.
  func set(for specs: [ThumbnailSpec]) -> ThumbnailSet? {
    var set = common
    set.thumbnails = specs.compactMap { thumbnails[$0] }
    return set.thumbnails.count == specs.count ? set : nil
  }
}
