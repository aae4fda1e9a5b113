/// Cuts a stream of bytes into lines, holding one chunk of it at a time.
///
/// A line ends with LF or CRLF; the last one may end with the stream. A byte-order mark at the start is dropped.
struct LineReader: Sendable {
  /// One line without its end.
  struct Line: Hashable, Sendable {
    /// From 1.
    var number: Int
    /// The bytes; nil where the line is longer than the limit and was skipped.
    var bytes: [UInt8]?
    /// Whether a line end follows: not after the last line of a file that was cut.
    var isEnded = true
  }

  /// Bytes asked of the source at once, by default.
  static let chunkLength = 64 << 10
  /// The longest line, in bytes, by default.
  static let longestLine = 1 << 20

  /// What messages call the source.
  var name: String { source.name }
  /// Whether it is a file, all of which is there.
  var isFile: Bool { source.isFile }
  /// Bytes read and not yet handed out: at most one chunk more than the longest line.
  var pendingCount: Int { buffer.count - start }

  private let source: ByteSource
  private let chunkLength: Int
  private let lineLimit: Int
  /// What was read. Everything before `start` was handed out; there is no LF between `start` and `searched`.
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  /// The memory that each read fills; empty before the first one.
  private var room: [UInt8] = []
  private var lineNumber = 0
  private var isAtEnd = false
  private var isSkipping = false
  private var isPastMark = false

  /// A reader at the first byte of `source`.
  init(_ source: ByteSource, chunkLength: Int = chunkLength, longestLine: Int = longestLine) {
    self.source = source
    self.chunkLength = chunkLength
    self.lineLimit = longestLine
  }

  /// A reader of `bytes`, all that `reader` read, in another form.
  init(_ bytes: [UInt8], of reader: LineReader) {
    self.init(reader.source)
    (buffer, isAtEnd, isPastMark) = (bytes, true, true)
  }

  /// The next line; nil after the last.
  mutating func next() throws(ManifestError) -> Line? {
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
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

  /// The first bytes, which stay to be read: as many as came at once, and at least `count` unless there are fewer.
  mutating func peek(atLeast count: Int) throws(ManifestError) -> ArraySlice<UInt8> {
    while pendingCount < count, !isAtEnd { try fill() }
    return buffer[start...]
  }

  /// What was read and not handed out, or what comes next; empty at the end.
  mutating func chunk() throws(ManifestError) -> [UInt8] {
    while pendingCount == 0, !isAtEnd { try fill() }
    return takeAll()
  }

  /// Everything that is left, at once; nil where that is more than `limit` bytes.
  mutating func rest(limit: Int) throws(ManifestError) -> [UInt8]? {
    while pendingCount <= limit, !isAtEnd { try fill() }
    return pendingCount <= limit ? takeAll() : nil
  }

  private mutating func takeAll() -> [UInt8] {
    defer { (buffer, start, searched) = ([], 0, 0) }
    // The whole buffer is not copied.
    return start == 0 ? buffer : Array(buffer[start...])
  }

  private mutating func take(upTo end: Int, resumingAt next: Int) -> Line {
    lineNumber += 1
    var content = buffer[start..<end]
    if content.last == 0x0D { content.removeLast() }
    defer { (start, searched, isSkipping) = (next, next, false) }
    return Line(
      number: lineNumber, bytes: isSkipping || content.count > lineLimit ? nil : Array(content), isEnded: next > end)
  }

  private mutating func fill() throws(ManifestError) {
    buffer.removeFirst(start)
    searched -= start
    start = 0
    // Allocated once: to clear 64 KiB for each read would cost more than a short read itself.
    if room.isEmpty { room = [UInt8](repeating: 0, count: chunkLength) }
    let source = source
    let count = try room.withUnsafeMutableBufferPointer { bytes throws(ManifestError) in
      try source.read(UnsafeMutableRawBufferPointer(bytes))
    }
    buffer.append(contentsOf: room[..<count])
    isAtEnd = count == 0
    dropByteOrderMark()
  }

  /// A short first read may hold a part of the mark only: then the next one shows it.
  private mutating func dropByteOrderMark() {
    guard !isPastMark, buffer.count >= 3 || lineNumber > 0 else { return }
    isPastMark = true
    if lineNumber == 0, buffer.starts(with: [0xEF, 0xBB, 0xBF]) {
      buffer.removeFirst(3)
      searched = 0
    }
  }
}
