/// The kind of progress display, which goes to standard error.
enum ProgressMode: String, CaseIterable, Hashable, Sendable {
  /// A bar on a terminal, plain lines elsewhere.
  case auto
  /// One live line.
  case bar
  /// A plain line every ten seconds.
  case plain
  /// A line with a JSON object, every second and at the end.
  case json
  /// Nothing.
  case none
}

extension ProgressMode {
  /// Resolves `auto`: `bar` on a terminal, otherwise `plain`. A terminal whose `TERM` is missing or `dumb` may not be
  /// able to clear a line and counts as none.
  func resolved(isTerminal: Bool, terminalType: String?) -> ProgressMode {
    guard self == .auto else { return self }
    return isTerminal && !["", "dumb"].contains(terminalType ?? "") ? .bar : .plain
  }

  /// The time between two updates; nil in a mode without updates.
  var interval: Duration? {
    switch self {
    case .auto, .bar: .milliseconds(100)
    case .plain: .seconds(10)
    case .json: .seconds(1)
    case .none: nil
    }
  }
}
