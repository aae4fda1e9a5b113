import ImageCache

@testable import BatchFetch
@testable import thumbs

extension ThumbnailSet {
  /// The thumbnail of an image that was downloaded, unless `origin` is another.
  static func sample(
    origin: Origin = .network, finalURL: String? = nil, warnings: [String] = []
  ) -> ThumbnailSet {
    ThumbnailSet(
      origin: origin,
      thumbnails: [
        Thumbnail(
          spec: ThumbnailSpec(width: 256), size: PixelSize(width: 256, height: 192), format: .jpeg, bytes: [1, 2, 3])
      ],
      source: SourceImage(size: PixelSize(width: 1280, height: 960), format: .jpeg), sourceBytes: 144_308,
      digest: BodyDigest(of: [1]),
      httpStatus: origin == .network ? 200 : nil, finalURL: finalURL, attempts: 1,
      timings: Timings(queued: .microseconds(600), download: .milliseconds(12), render: .microseconds(4499)),
      warnings: warnings)
  }
}

extension ReportLine {
  /// The line for a row with the thumbnails of `set`.
  static func sample(_ set: ThumbnailSet, name: String? = "Mail") -> ReportLine {
    ReportLine(
      ManifestRow(index: 0, line: nil, name: name, url: "http://a/a.png"),
      .done(set, set.thumbnails.map { Output($0, path: "a.jpg") }))
  }
}
