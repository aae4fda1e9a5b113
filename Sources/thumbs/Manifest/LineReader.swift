/// Splits a stream of bytes into lines, holding one chunk of it at a time.
///
/// A line ends with LF or CRLF, and the last line may end with the stream. If the first line ends with CR alone, as
/// some spreadsheets write on a Mac, others may do so, too. A leading byte-order mark is dropped.
struct LineReader: Sendable {
  /// One line without its line end.
  struct Line: Hashable, Sendable {
    /// The line number, from 1.
    var number: Int
    /// The bytes; nil if the line was longer than the limit and was skipped.
    var bytes: [UInt8]?
    /// True if a line end follows. False for the last line of a truncated file.
    var isEnded = true
  }

  /// The bytes of lines that mean nothing.
  enum Blanks: Hashable, Sendable {
    case nothing, spaces, spacesAndTabs

    fileprivate func contains(_ byte: UInt8) -> Bool {
      byte == 0x20 && self != .nothing || byte == 0x09 && self == .spacesAndTabs
    }
  }

  /// The default number of bytes in one read.
  static let chunkLength = 64 << 10
  /// The default length limit of a line, in bytes.
  static let longestLine = 1 << 20

  /// The name of the source in messages.
  var name: String { source.name }
  /// True for a regular file, whose bytes can be read without waiting for a writer.
  var isFile: Bool { source.isFile }
  /// The number of bytes read but not yet returned: at most one chunk more than the longest line.
  var pendingCount: Int { buffer.count - start }

  private let source: ByteSource
  private let chunkLength: Int
  private let lineLimit: Int
  /// The bytes read. Those before `start` have been returned, and those from `start` to `searched` contain no LF.
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  /// The buffer that each read fills; empty before the first read.
  private var room: [UInt8] = []
  private var lineNumber = 0
  private var isAtEnd = false
  private var isSkipping = false
  private var isPastMark = false
  /// True if a line may end with CR alone; nil before the end of the first line.
  private var endsWithCR: Bool?
  /// True behind a CR that has ended a line. An LF that follows belongs to it.
  private var isBehindCR = false

  /// Creates a reader at the first byte of `source`.
  init(_ source: ByteSource, chunkLength: Int = chunkLength, longestLine: Int = longestLine) {
    self.source = source
    self.chunkLength = chunkLength
    self.lineLimit = longestLine
  }

  /// Creates a reader of `bytes`, the whole content of `reader` in another encoding.
  init(_ bytes: [UInt8], of reader: LineReader) {
    self.init(reader.source)
    (buffer, isAtEnd, isPastMark) = (bytes, true, true)
  }

  /// Returns the next line; nil after the last.
  ///
  /// - Parameter blanks: The bytes of the lines to skip, besides their ends: none, spaces, or spaces and tabs. A few
  ///   kilobytes of gzip data may have a billion such lines. Default: no line is skipped.
  mutating func next(skipping blanks: Blanks = .nothing) throws(InputError) -> Line? {
    while true {
      try detectLineEnds()
      passLF()
      skip(blanks)
      if let end = lineEnd() {
        return take(upTo: end, resumingAt: end + 1)
      }
      searched = buffer.count
      if isAtEnd {
        return pendingCount > 0 || isSkipping ? take(upTo: buffer.count, resumingAt: buffer.count) : nil
      }
      if pendingCount > lineLimit {
        isSkipping = true
        start = buffer.count
      }
      try fill()
    }
  }

  /// Decides about the line ends by the first one in the stream.
  private mutating func detectLineEnds() throws(InputError) {
    while endsWithCR == nil {
      // A line end beyond the limit would count or not, depending on how much one read gives.
      let end = buffer[start...].prefix(lineLimit + 1).firstIndex { $0 == 0x0A || $0 == 0x0D }
      if let end, buffer[end] == 0x0A || end + 1 < buffer.count || isAtEnd {
        endsWithCR = buffer[end] == 0x0D && end + 1 < buffer.count && buffer[end + 1] != 0x0A
      } else if end == nil, isAtEnd || pendingCount > lineLimit {
        endsWithCR = false
      } else {
        try fill()
      }
    }
  }

  private mutating func passLF() {
    guard isBehindCR, start < buffer.count else { return }
    isBehindCR = false
    guard buffer[start] == 0x0A else { return }
    start += 1
    searched = max(searched, start)
  }

  /// Returns the place of the next line end in the buffer.
  private func lineEnd() -> Int? {
    guard endsWithCR == true else { return buffer[searched...].firstIndex(of: 0x0A) }
    return buffer[searched...].firstIndex { $0 == 0x0A || $0 == 0x0D }
  }

  /// Returns the next bytes without consuming them: everything already buffered, and at least `count` bytes unless the
  /// source ends first.
  mutating func peek(atLeast count: Int) throws(InputError) -> ArraySlice<UInt8> {
    while pendingCount < count, !isAtEnd { try fill() }
    return buffer[start...]
  }

  /// Returns the buffered bytes, or the next chunk if the buffer is empty; empty at the end.
  mutating func chunk() throws(InputError) -> [UInt8] {
    while pendingCount == 0, !isAtEnd { try fill() }
    return takeAll()
  }

  /// Returns all remaining bytes; nil if there are more than `limit`.
  mutating func rest(limit: Int) throws(InputError) -> [UInt8]? {
    while pendingCount <= limit, !isAtEnd { try fill() }
    return pendingCount <= limit ? takeAll() : nil
  }

  private mutating func takeAll() -> [UInt8] {
    defer { (buffer, start, searched) = ([], 0, 0) }
    // Returning the whole buffer avoids a copy.
    return start == 0 ? buffer : Array(buffer[start...])
  }

  /// Moves behind the lines in the buffer that consist of `blanks`.
  private mutating func skip(_ blanks: Blanks) {
    guard blanks != .nothing, !isSkipping else { return }
    buffer.withUnsafeBufferPointer { bytes in
      var next = start
      while next < bytes.count {
        if bytes[next] == 0x0A {
          (start, lineNumber) = (next + 1, lineNumber + 1)
        } else if bytes[next] == 0x0D {
          guard next + 1 < bytes.count else { break }
          if bytes[next + 1] != 0x0A {
            guard endsWithCR == true else { break }
            (start, lineNumber) = (next + 1, lineNumber + 1)
          }
        } else if !blanks.contains(bytes[next]) {
          break
        }
        next += 1
      }
    }
    searched = max(searched, start)
  }

  private mutating func take(upTo end: Int, resumingAt next: Int) -> Line {
    lineNumber += 1
    var content = buffer[start..<end]
    if content.last == 0x0D { content.removeLast() }
    isBehindCR = end < buffer.count && buffer[end] == 0x0D
    defer { (start, searched, isSkipping) = (next, next, false) }
    return Line(
      number: lineNumber, bytes: isSkipping || content.count > lineLimit ? nil : Array(content), isEnded: next > end)
  }

  private mutating func fill() throws(InputError) {
    buffer.removeFirst(start)
    searched -= start
    start = 0
    // Allocated only once, because clearing 64 KiB for each read would cost more than a short read itself.
    if room.isEmpty { room = [UInt8](repeating: 0, count: chunkLength) }
    let source = source
    let count = try room.withUnsafeMutableBufferPointer { bytes throws(InputError) in
      try source.read(UnsafeMutableRawBufferPointer(bytes))
    }
    buffer.append(contentsOf: room[..<count])
    isAtEnd = count == 0
    dropByteOrderMark()
  }

  /// Drops a leading byte-order mark. Waits until three bytes are there, because a short first read may split the mark.
  private mutating func dropByteOrderMark() {
    guard !isPastMark, buffer.count >= 3 || lineNumber > 0 else { return }
    isPastMark = true
    if lineNumber == 0, buffer.starts(with: [0xEF, 0xBB, 0xBF]) {
      buffer.removeFirst(3)
      searched = 0
    }
  }
}
