/// Colours of the live line (ECMA-48, section 8.3.117).
enum ProgressStyle: Hashable, Sendable {
  /// None.
  case plain
  /// Failures red, what is slow yellow.
  case colored

  /// What colours stand for.
  enum Tint: Int, Hashable, Sendable {
    case bad = 31
    case slow = 33
  }

  /// No colours with `NO_COLOR` of any value but the empty one (https://no-color.org), nor on a terminal called `dumb`.
  init(environment: [String: String]) {
    let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    self = isRefused || environment["TERM"] == "dumb" ? .plain : .colored
  }

  /// `text` in the colour of `tint`.
  func text(_ text: String, _ tint: Tint?) -> String {
    guard self == .colored, let tint else { return text }
    return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[m"
  }
}
