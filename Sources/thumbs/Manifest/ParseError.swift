/// An error in a text: in the syntax of a document, or in a row or a line of it.
struct ParseError: Error, Hashable, Sendable {
  /// The position at which the parser failed.
  enum Position: Hashable, Sendable {
    /// The parser reported no position.
    case unknown
    /// A byte offset, from 0.
    case offset(Int)
    /// A line number, from 1.
    case line(Int)
    /// The end of the text, which is incomplete.
    case end
  }

  /// The description of the error: the end of a sentence that begins with its place, without a period.
  var reason: String
  /// The position at which the parser failed.
  var position = Position.unknown

  /// The line, if the parser reported one.
  var line: Int? {
    guard case .line(let line) = position else { return nil }
    return line
  }
}

extension ParseError {
  /// Returns the place of this error in `bytes`, the text that was parsed.
  func place(in bytes: [UInt8]) -> InputError.Place {
    switch position {
    case .unknown: .whole
    case .line(let line): .line(line)
    case .end: .line(Self.lineNumber(at: bytes.lastIndex { $0 > 0x20 } ?? 0, in: bytes))
    case .offset(let offset): Self.column(at: min(max(offset, 0), bytes.count), in: bytes)
    }
  }

  private static func lineNumber(at offset: Int, in bytes: [UInt8]) -> Int {
    bytes.prefix(offset).count { $0 == 0x0A } + 1
  }

  private static func column(at offset: Int, in bytes: [UInt8]) -> InputError.Place {
    let lineStart = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let column = String(decoding: bytes[lineStart..<offset], as: UTF8.self).count + 1
    return .column(column, line: lineNumber(at: offset, in: bytes))
  }
}
