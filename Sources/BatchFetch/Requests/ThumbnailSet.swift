public import Foundation
public import ImageCache

/// The result of a successful request: its thumbnails and where they came from.
public struct ThumbnailSet: Sendable {
  /// The place that served the thumbnails. The raw values are the values of `origin` in a report.
  public enum Origin: String, CaseIterable, Hashable, Sendable {
    /// Downloaded and rendered for this request.
    case network
    /// Served from the cache after the server confirmed the entry (status 304).
    case revalidated
    /// Fresh in the disk cache.
    case disk
    /// Fresh in the memory cache.
    case memory
    /// Fresh in the remote cache, which several machines share.
    case remote
    /// Stale in the cache, and served because the server was not available or the cache mode is offline.
    case stale
    /// Read from a local file.
    case file
  }

  /// The place that served the thumbnails.
  public var origin: Origin
  /// One thumbnail per spec, in the order of the request.
  public var thumbnails: [Thumbnail]
  /// The placeholder of the image; nil unless `ThumbnailSpec.placeholder` was requested.
  public var placeholder: Placeholder? { thumbnails.lazy.compactMap(\.placeholder).first }
  /// The perceptual hash of the image; nil unless `ThumbnailSpec.perceptualHash` was requested.
  public var perceptualHash: PerceptualHash? { thumbnails.lazy.compactMap(\.perceptualHash).first }
  /// The source image: its size after orientation, and its format.
  public var source: SourceImage
  /// The length of the source in bytes.
  public var sourceBytes: Int
  /// The SHA-256 digest of the source.
  public var digest: BodyDigest
  /// The last HTTP status received for this request; nil if no request was sent.
  public var httpStatus: Int?
  /// The URL after redirects, without credentials; nil if it is the requested URL.
  public var finalURL: String?
  /// The redirects that were followed for this request, in order; empty if no request was sent. Default: none.
  public var redirects: [Redirect] = []
  /// The number of download attempts: one, and one more after each failure that was retried; 0 if no request was sent.
  /// Redirects and resumed downloads continue an attempt.
  public var attempts: Int
  /// True if another request for the same image had begun the work: its attempts and bytes count there, too. Default
  /// false.
  public var isShared = false
  /// The instant until which the response of the source is fresh for a private cache (RFC 9111, section 4.2), in whole
  /// seconds; from then on, the same request contacts the server of the source. Nil if the response must be validated
  /// before every use, if it was stale when it was served, for damaged images, and for files. Default nil.
  public var freshUntil: Date?
  /// The time spent in each stage.
  public var timings: Timings
  /// Harmless irregularities of the source file, one sentence each. Default: none.
  public var warnings: [String]

  /// Creates a result from its parts, for tests of code that shows results.
  public init(
    origin: Origin, thumbnails: [Thumbnail], source: SourceImage, sourceBytes: Int, digest: BodyDigest,
    httpStatus: Int? = nil, finalURL: String? = nil, redirects: [Redirect] = [], attempts: Int = 0,
    freshUntil: Date? = nil, timings: Timings = Timings(), warnings: [String] = []
  ) {
    self.origin = origin
    self.thumbnails = thumbnails
    self.source = source
    self.sourceBytes = sourceBytes
    self.digest = digest
    self.httpStatus = httpStatus
    self.finalURL = finalURL
    self.redirects = redirects
    self.attempts = attempts
    self.freshUntil = freshUntil
    self.timings = timings
    self.warnings = warnings
  }
}

extension ThumbnailSet {
  /// The thumbnail of a spec; nil if the request did not have it.
  public subscript(spec: ThumbnailSpec) -> Thumbnail? { thumbnails.first { $0.spec == spec } }
}

/// The time that one request spent in each stage.
public struct Timings: Hashable, Sendable {
  /// From the request to the first attempt, or to the cache hit.
  public var queued: Duration
  /// From the first attempt to the last byte, including the delays between attempts.
  public var download: Duration
  /// Decoding, resizing and encoding.
  public var render: Duration

  /// Creates timings from their parts, each zero by default.
  public init(queued: Duration = .zero, download: Duration = .zero, render: Duration = .zero) {
    self.queued = queued
    self.download = download
    self.render = render
  }
}
