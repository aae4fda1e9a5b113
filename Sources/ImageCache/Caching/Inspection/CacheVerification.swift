/// The result of a verification.
public struct CacheVerification: Hashable, Sendable {
  /// The number of intact source records.
  public var sources = 0
  /// The number of intact thumbnails.
  public var thumbnails = 0
  /// The total size of the intact thumbnails in bytes.
  public var bytes = 0
  /// The number of thumbnails and failures from another renderer version, which are never served.
  public var outdated = 0
  /// The number of problems found.
  public var problems = 0
}
