public import FoundationEssentials

/// A source in a cache with a description of its thumbnails, but not their bytes.
public struct ListedSource: Hashable, Sendable {
  /// A description of one thumbnail.
  public struct Thumbnail: Hashable, Sendable {
    /// The label of its spec, such as `256x256`; the whole stored text for another renderer version.
    public var label: String
    /// Its spec; nil for another renderer version.
    public var spec: ThumbnailSpec?
    /// Its size in pixels.
    public var size: PixelSize
    /// Its format.
    public var format: OutputFormat
    /// Its size in bytes.
    public var bytes: Int
  }

  /// The state of a source.
  public enum State: String, Hashable, Sendable {
    /// An image that may be used without contacting the origin.
    case fresh
    /// An image that must be validated first.
    case stale
    /// A failure.
    case failed
  }

  /// The key of the source.
  public var key: SourceKey
  /// The source.
  public var source: StoredSource
  /// The time of its last use, accurate to the hour.
  public var lastUsed: Date
  /// Its thumbnails, in no particular order.
  public var thumbnails: [Thumbnail]

  /// The total size of the thumbnails in bytes.
  public var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }

  /// Returns the state of the source at `now`.
  public func state(at now: Date) -> State {
    switch source.content {
    case .failure: .failed
    case .image: source.policy.state(at: now) == .fresh ? .fresh : .stale
    }
  }
}
