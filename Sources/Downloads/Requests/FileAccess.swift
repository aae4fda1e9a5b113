/// The permission to read local files as sources. Refuse it for lists of URLs from someone you do not trust.
public enum FileAccess: Hashable, Sendable {
  /// Local files fail with `blocked_scheme`.
  case refused
  /// Local files are read.
  case allowed

  /// Throws `blocked_scheme` if `source` is a local file and reading files is refused.
  public func check(_ source: SourceURL) throws(FetchFailure) {
    guard source.scheme != .file || self == .allowed else {
      throw FetchFailure(.blockedScheme, "Reading local files is not allowed.")
    }
  }
}
