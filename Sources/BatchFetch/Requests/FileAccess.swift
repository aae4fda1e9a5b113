/// Whether local files are sources. They must not be where a list of addresses comes from somebody else.
public enum FileAccess: Hashable, Sendable {
  /// `blocked_scheme`.
  case refused
  /// Read as they are.
  case allowed

  /// Throws `blocked_scheme` where `source` is a local file and none may be read.
  public func check(_ source: SourceURL) throws(FetchFailure) {
    guard source.scheme != .file || self == .allowed else {
      throw FetchFailure(.blockedScheme, "Local files are not read.")
    }
  }
}
