import Glibc

/// A destination for progress.
struct ProgressOutput: Sendable {
  /// True if the destination is a terminal.
  var isTerminal: Bool
  /// Returns true unless the destination is a terminal that belongs to another job now. Default always true.
  var isForeground: @Sendable () -> Bool = { true }
  /// Returns the current number of columns; 80 if unknown.
  var width: @Sendable () -> Int
  /// Writes text immediately.
  var write: @Sendable (String) -> Void

  /// Standard error.
  static let standardError = ProgressOutput(descriptor: STDERR_FILENO)
}

extension ProgressOutput {
  /// Creates an output that writes to `descriptor` and ignores errors: there is nowhere to report them. It queries the
  /// window size for each update, so it needs no handler for `SIGWINCH`.
  init(descriptor: Int32) {
    isTerminal = isatty(descriptor) == 1
    isForeground = {
      // -1 if the terminal does not control this process.
      let group = tcgetpgrp(descriptor)
      return group < 0 || group == getpgrp()
    }
    width = { Self.columns(of: descriptor) }
    write = { text in _ = FileDescriptor.writeAll(Array(text.utf8)[...], to: descriptor) }
  }

  private static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
