public import ImageCache

/// What a request came to: its thumbnails, and how they were had.
public struct ThumbnailSet: Sendable {
  /// Where the thumbnails came from. The raw values are the `origin` of a report.
  public enum Origin: String, CaseIterable, Hashable, Sendable {
    /// Downloaded and rendered now.
    case network
    /// In the cache; the server said that it is still right (304).
    case revalidated
    /// Fresh in the disk cache.
    case disk
    /// Fresh in the memory cache.
    case memory
    /// In the cache past its freshness, served because the server could not be asked.
    case stale
    /// Read from a local file.
    case file
  }

  /// Where the thumbnails came from.
  public var origin: Origin
  /// One thumbnail a spec, in the order of the request.
  public var thumbnails: [Thumbnail]
  /// The source picture: size after orientation, and format.
  public var source: SourceImage
  /// Length of the source's file in bytes.
  public var sourceBytes: Int
  /// The last HTTP status the server gave for this request; nil where no server was asked.
  public var httpStatus: Int?
  /// The address after redirects, without credentials; nil where it is the one asked for.
  public var finalURL: String?
  /// How often the download was tried: 0 where nothing was asked of a server.
  public var attempts: Int
  /// Where the time went.
  public var timings: Timings
  /// What was odd in the file and did no harm.
  public var warnings: [String]
}
