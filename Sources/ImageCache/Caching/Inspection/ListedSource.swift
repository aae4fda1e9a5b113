public import FoundationEssentials

/// One source of a cache, with what it has of thumbnails but not their bytes.
public struct ListedSource: Hashable, Sendable {
  /// One thumbnail of a source.
  public struct Thumbnail: Hashable, Sendable {
    /// The label of its spec, such as `256x256`; the whole stored text for a spec of another renderer version.
    public var label: String
    /// What was asked for; nil for a spec of another renderer version.
    public var spec: ThumbnailSpec?
    /// Its size in pixels.
    public var size: PixelSize
    /// Its format.
    public var format: ImageFormat
    /// Its size in bytes.
    public var bytes: Int
  }

  /// Whether a source may be used as it is.
  public enum State: String, Hashable, Sendable {
    /// A picture that may be used without asking the origin.
    case fresh
    /// A picture that must be validated first.
    case stale
    /// No picture.
    case failed
  }

  /// The key of the source.
  public var key: SourceKey
  /// The source.
  public var source: StoredSource
  /// When it was last used, to the hour.
  public var lastUsed: Date
  /// Its thumbnails, in no order.
  public var thumbnails: [Thumbnail]

  /// The sum of the thumbnails' sizes in bytes.
  public var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }

  /// Whether the source may be used at `now`.
  public func state(at now: Date) -> State {
    switch source.content {
    case .failure: .failed
    case .picture: source.policy.state(at: now) == .fresh ? .fresh : .stale
    }
  }
}
