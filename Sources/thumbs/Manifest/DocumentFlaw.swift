/// What is wrong with a plist or a JSON text.
struct DocumentFlaw: Error, Hashable, Sendable {
  /// How far the parser came.
  enum Position: Hashable, Sendable {
    /// It does not say.
    case unknown
    /// To this byte, from 0.
    case offset(Int)
    /// To this line, from 1.
    case line(Int)
    /// To the end, where more should follow.
    case end
  }

  /// The rest of a sentence, without its full stop.
  var reason: String
  /// How far the parser came.
  var position = Position.unknown
}

extension DocumentFlaw {
  /// The place of this flaw in the text of `bytes`.
  func place(in bytes: [UInt8]) -> ManifestError.Place {
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

  private static func column(at offset: Int, in bytes: [UInt8]) -> ManifestError.Place {
    let lineStart = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let column = String(decoding: bytes[lineStart..<offset], as: UTF8.self).count + 1
    return .column(column, line: lineNumber(at: offset, in: bytes))
  }
}
