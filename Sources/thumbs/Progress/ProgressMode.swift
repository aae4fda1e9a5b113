/// How a run shows that it gets on. Always on standard error.
enum ProgressMode: String, CaseIterable, Hashable, Sendable {
  /// A bar on a terminal, plain lines elsewhere.
  case auto
  /// One live line.
  case bar
  /// A line every ten seconds.
  case plain
  /// A JSON object on a line, every second and at the end.
  case json
  /// Nothing.
  case none
}

extension ProgressMode {
  /// The mode that `auto` stands for. A terminal that calls itself `dumb` cannot clear a line.
  func resolved(isTerminal: Bool, terminalType: String?) -> ProgressMode {
    guard self == .auto else { return self }
    return isTerminal && terminalType != "dumb" ? .bar : .plain
  }

  /// The time between two lines; nil for no lines.
  var interval: Duration? {
    switch self {
    case .auto, .bar: .milliseconds(100)
    case .plain: .seconds(10)
    case .json: .seconds(1)
    case .none: nil
    }
  }
}
