import Glibc

/// Where progress is shown.
struct ProgressOutput: Sendable {
  /// Whether it is a terminal.
  var isTerminal: Bool
  /// The number of columns now; 80 where nobody knows.
  var width: @Sendable () -> Int
  /// Puts text out, at once.
  var write: @Sendable (String) -> Void

  /// Standard error.
  static let standardError = ProgressOutput(descriptor: STDERR_FILENO)
}

extension ProgressOutput {
  /// An open file. What cannot be written there is lost: there is nobody left to tell. A window is asked for its size at
  /// every drawing, so that no signal has to tell of a change.
  init(descriptor: Int32) {
    isTerminal = isatty(descriptor) == 1
    width = { Self.columns(of: descriptor) }
    write = { text in _ = FileDescriptor.writeAll(Array(text.utf8)[...], to: descriptor) }
  }

  private static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
