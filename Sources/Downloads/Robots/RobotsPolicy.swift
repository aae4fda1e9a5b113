/// The treatment of `robots.txt` (RFC 9309) and of the `X-Robots-Tag` header field.
public enum RobotsPolicy: Hashable, Sendable {
  /// Both are ignored.
  case ignored
  /// A URL that its host disallows fails with `blocked_robots`. An image that is fresh in the cache is used without a
  /// request to its host, even if it was stored while both were ignored.
  case obeyed
}
