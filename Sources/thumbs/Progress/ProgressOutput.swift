import Glibc

/// Where progress is shown.
struct ProgressOutput: Sendable {
  /// Whether it is a terminal.
  var isTerminal: Bool
  /// The number of columns now; 80 where nobody knows.
  var width: @Sendable () -> Int
  /// Puts text out, at once.
  var write: @Sendable (String) -> Void

  /// Standard error. What cannot be written there is lost: there is nobody left to tell.
  static let standardError = ProgressOutput(
    isTerminal: isatty(STDERR_FILENO) == 1, width: { columns(of: STDERR_FILENO) },
    write: { text in _ = FileDescriptor.writeAll(Array(text.utf8)[...], to: STDERR_FILENO) })

  private static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
