/// One finding of a verification.
enum RowCheck {
  /// An intact source.
  case source
  /// Another intact row.
  case intact
  /// An intact thumbnail.
  case thumbnail(bytes: Int)
  /// A thumbnail of another renderer version, or a failure or verdict of another edition, which is never served.
  case outdated
  case problem(CacheProblem)

  static func problem(_ code: CacheProblem.Code, _ key: SourceKey?, _ detail: String) -> RowCheck {
    .problem(CacheProblem(code: code, key: key, detail: detail))
  }
}
