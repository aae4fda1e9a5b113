import Synchronization

// The encodings of lists that are not UTF-8, as spreadsheets write them.

extension ByteSource {
  /// Returns a source of these bytes in UTF-8 if they are UTF-16 text with a byte-order mark, which Excel calls
  /// "Unicode text". XML stays as it is, because it declares its encoding.
  func decodingUTF16() -> ByteSource {
    let filter = Mutex(UTF16Filter(self))
    return ByteSource(name: name, isFile: isFile, length: length) { buffer throws(InputError) in
      try filter.withLock { filter throws(InputError) in try filter.read(into: buffer) }
    }
  }
}

/// Converts UTF-16 text that begins with a byte-order mark to UTF-8, and passes other data through unchanged. Holds one
/// chunk of the source.
private struct UTF16Filter {
  private enum Mode {
    /// Not enough has been read to decide.
    case unread
    case plain
    case bigEndian
    case littleEndian
  }

  private let source: ByteSource
  private var mode = Mode.unread
  private var input: [UInt8] = []
  private var output: ArraySlice<UInt8> = []
  private var isAtEnd = false

  init(_ source: ByteSource) { self.source = source }

  /// Fills `buffer` with the next bytes and returns their number, 0 at the end.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
    while output.isEmpty {
      if case .plain = mode { return try source.read(buffer) }
      if isAtEnd { return 0 }
      try fill()
      if case .unread = mode { decide() }
      convert()
    }
    let count = min(output.count, buffer.count)
    buffer.copyBytes(from: output.prefix(count))
    output.removeFirst(count)
    return count
  }

  private mutating func fill() throws(InputError) {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    let count = try chunk.withUnsafeMutableBufferPointer { bytes throws(InputError) in
      try source.read(UnsafeMutableRawBufferPointer(bytes))
    }
    isAtEnd = count == 0
    input += chunk[..<count]
  }

  /// Decides by the mark and the first character. A short first read may split them.
  private mutating func decide() {
    let isLittle = input.starts(with: [0xFF, 0xFE])
    guard isLittle || input.starts(with: [0xFE, 0xFF]) || input.count < 2 && !isAtEnd else { return mode = .plain }
    guard input.count >= 4 || isAtEnd else { return }
    let first = input.dropFirst(2).prefix(2)
    let isXML = first.elementsEqual(isLittle ? [0x3C, 0] : [0, 0x3C])
    mode = isXML || input.count < 2 ? .plain : isLittle ? .littleEndian : .bigEndian
    if case .plain = mode { return }
    input.removeFirst(2)
  }

  /// Converts the characters that are complete. Half of a surrogate pair becomes U+FFFD.
  private mutating func convert() {
    switch mode {
    case .unread: return
    case .plain: (output, input) = (input[...], [])
    case .bigEndian, .littleEndian:
      var units = stride(from: 0, to: input.count - 1, by: 2).map(unit)
      if !isAtEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
      input.removeFirst(isAtEnd ? input.count : units.count * 2)
      output = Array(String(decoding: units, as: UTF16.self).utf8)[...]
    }
  }

  private func unit(at index: Int) -> UInt16 {
    let (first, second) = (UInt16(input[index]), UInt16(input[index + 1]))
    if case .bigEndian = mode { return first << 8 | second }
    return second << 8 | first
  }
}

/// The encoding of the lines of a list: UTF-8, or Windows-1252 if the first line that is not ASCII is not valid UTF-8.
/// Many spreadsheets on Windows write CSV in the latter.
struct TextDecoder: Hashable, Sendable {
  private enum Encoding {
    case unknown, utf8, windows1252
  }

  private var encoding = Encoding.unknown

  /// Returns the text of `bytes`; nil if they are not valid in the encoding of earlier lines.
  mutating func text(_ bytes: [UInt8]) -> String? {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    let text = encoding == .windows1252 ? nil : String(validating: bytes, as: UTF8.self)
    if encoding == .unknown { encoding = text == nil ? .windows1252 : .utf8 }
    return encoding == .windows1252 ? Self.windows1252(bytes) : text
  }

  /// Returns the text of bytes in Windows-1252, in which each byte is a character.
  static func windows1252(_ bytes: [UInt8]) -> String {
    String(
      String.UnicodeScalarView(
        bytes.map { byte in
          let unit = (0x80...0x9F).contains(byte) ? upperHalf[Int(byte) - 0x80] : UInt16(byte)
          return Unicode.Scalar(unit) ?? "\u{FFFD}"
        }))
  }

  /// The characters 0x80 to 0x9F (Encoding standard, index windows-1252).
  private static let upperHalf: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]
}
