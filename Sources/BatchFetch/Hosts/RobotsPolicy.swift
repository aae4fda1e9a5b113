/// The treatment of `robots.txt` (RFC 9309) and of the `X-Robots-Tag` header field.
public enum RobotsPolicy: Hashable, Sendable {
  /// Neither is requested nor honored.
  case ignored
  /// What a host disallows fails with `blocked_robots`.
  case obeyed
}
