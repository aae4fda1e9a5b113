/// The least flaw of a file that makes rendering fail.
///
/// A file whose header is damaged always fails, and so does one that exceeds a limit.
public enum FailLevel: String, CaseIterable, Hashable, Sendable {
  /// Fails only if the image data ends or is corrupt before the first row. Missing pixels are gray, or transparent if
  /// the image has alpha.
  case none
  /// Fails if image data is missing at the end.
  case truncated
  /// Also fails if image data is corrupt.
  case error
  /// Also fails if there is any warning.
  case warning

  /// Returns true if an image is rendered in spite of `error`, as far as its data goes.
  public func tolerates(_ error: ImageError.Code) -> Bool {
    switch error {
    case .truncated: self == .none
    case .decodeError: self == .none || self == .truncated
    default: false
    }
  }
}
