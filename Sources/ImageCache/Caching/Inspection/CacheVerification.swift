/// What a verification went through.
public struct CacheVerification: Hashable, Sendable {
  /// Sources whose description is whole.
  public var sources = 0
  /// Thumbnails whose picture is whole.
  public var thumbnails = 0
  /// The size of those in bytes.
  public var bytes = 0
  /// Thumbnails and failures of another version of the renderer, which are never served.
  public var outdated = 0
  /// Problems found.
  public var problems = 0
}
