import Glibc

/// A terminal without a user.
enum PseudoTerminal {
  /// Opens a new terminal. The output written to `writing` can be read from `reading`.
  static func open(columns: UInt16) throws -> (reading: Int32, writing: Int32) {
    var (reading, writing): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&reading, &writing, nil, nil, &size) == 0 else {
      throw RunningCommand.Failure(call: "openpty", errno: errno)
    }
    return (reading, writing)
  }
}
