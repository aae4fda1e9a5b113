import Glibc

/// A terminal that nobody sits at.
enum PseudoTerminal {
  /// The two ends of a new one: what is written to the second can be read from the first.
  static func open(columns: UInt16) throws -> (reading: Int32, writing: Int32) {
    var (reading, writing): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&reading, &writing, nil, nil, &size) == 0 else {
      throw RunningCommand.Failure(call: "openpty", errno: errno)
    }
    return (reading, writing)
  }
}
