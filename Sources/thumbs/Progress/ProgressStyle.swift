/// The colors of the live line (SGR, ECMA-48, section 8.3.117).
enum ProgressStyle: Hashable, Sendable {
  /// No colors.
  case plain
  /// Failures in red, slow hosts in yellow.
  case colored

  /// A color by its purpose, with its SGR parameter.
  enum Tint: Int, Hashable, Sendable {
    case bad = 31
    case slow = 33
  }

  /// Chooses `plain` if `NO_COLOR` is set and not empty (https://no-color.org), or if `TERM` is missing or
  /// `dumb`; otherwise `colored`.
  init(environment: [String: String]) {
    let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    self = isRefused || ["", "dumb"].contains(environment["TERM"] ?? "") ? .plain : .colored
  }

  /// Returns `text` in the color of `tint`.
  func text(_ text: String, _ tint: Tint?) -> String {
    guard self == .colored, let tint else { return text }
    return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[m"
  }
}
