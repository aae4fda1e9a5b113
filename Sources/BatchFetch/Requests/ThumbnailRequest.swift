public import HTTPTypes
public import ImageCache

/// One picture that somebody wants, in one or several sizes.
public struct ThumbnailRequest: Sendable {
  /// The former place of ``BatchFetch/Priority``.
  public typealias Priority = BatchFetch.Priority

  /// Where the picture is, as the caller wrote it. A bad address fails this request with `bad_url`, and no other.
  public var url: String
  /// Other addresses of the same picture, tried in order as long as the outcome is a failure. Default none.
  public var mirrors: [String] = []
  /// What must have happened before this request begins. Until then it takes nobody's place. Default nothing.
  public var after: [Milestone] = []
  /// The thumbnails to make, in order. One download and one decode serve them all.
  public var specs: [ThumbnailSpec]
  /// Additional header fields. Requests that differ in them never share a download. A request with a field about the
  /// message's length or its connection (`Content-Length`, `Transfer-Encoding`, `Connection` and their like) fails with
  /// `bad_row`.
  public var headerFields: HTTPFields
  /// Default ``Priority/normal``.
  public var priority: Priority
  /// Answers that this process got since this moment are good enough, fresh or not. A batch sets it to its start, so
  /// that it asks for each source once. Default nil: only freshness counts.
  public var since: ContinuousClock.Instant?

  /// A request for one picture in the sizes of `specs`.
  public init(
    url: String, specs: [ThumbnailSpec], headerFields: HTTPFields = [:], priority: Priority = .normal
  ) {
    self.url = url
    self.specs = specs
    self.headerFields = headerFields
    self.priority = priority
  }

  /// A request for one picture that fits in a square box of `size` pixels.
  public init(url: String, size: Int) {
    self.init(url: url, specs: [ThumbnailSpec(width: size)])
  }
}
