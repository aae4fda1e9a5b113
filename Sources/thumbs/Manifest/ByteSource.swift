import Glibc
import Synchronization

/// A stream of bytes: a file, standard input, or the output of a filter.
struct ByteSource: Sendable {
  /// The name used in messages.
  let name: String
  /// True for a regular file, whose bytes can be read without waiting for a writer. Default false.
  var isFile = false
  /// The number of bytes from the current position to the end of a regular file; nil for anything else. Default nil.
  var length: Int?
  /// Reads the next bytes into the buffer and returns their number, 0 at the end. Blocks until there is at least one.
  let read: @Sendable (UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int
}

extension ByteSource {
  /// Opens the file at `path`, or standard input if `path` is `-`. The message about a directory names the `expected`
  /// kind of file.
  static func open(_ path: String, expecting expected: String = "a manifest") throws(ManifestError) -> ByteSource {
    if path == "-" {
      return ByteSource(OpenFile(name: "standard input", descriptor: dup(STDIN_FILENO), expected: expected))
    }
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    let file = OpenFile(name: path, descriptor: descriptor, expected: expected)
    guard file.descriptor >= 0 else { throw file.error(errno) }
    return ByteSource(file)
  }

  /// Opens the regular file at `path`. Never waits for the writer of a pipe. The message about anything else names the
  /// `expected` kind of file.
  static func openRegularFile(_ path: String, expecting expected: String) throws(ManifestError) -> ByteSource {
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let file = OpenFile(name: path, descriptor: descriptor, expected: expected)
    guard file.descriptor >= 0 else { throw file.error(errno) }
    guard file.isRegular else { throw ManifestError(path, "is not a regular file; give \(expected)") }
    return ByteSource(file)
  }

  /// Reads everything; nil if that is more than `limit` bytes.
  func bytes(limit: Int) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= limit {
      let count = try chunk.withUnsafeMutableBytes { try read($0) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    return nil
  }

  /// Returns a source of these bytes, decompressed if they are gzip data.
  func unpacked() -> ByteSource {
    let filter = Mutex(GzipFilter(self))
    return ByteSource(name: name, isFile: isFile) { buffer throws(ManifestError) in
      try filter.withLock { filter throws(ManifestError) in try filter.read(into: buffer) }
    }
  }

  private init(_ file: OpenFile) {
    self.init(name: file.name, isFile: file.isRegular, length: file.length) { buffer throws(ManifestError) in
      try file.read(into: buffer)
    }
  }
}

/// An open file descriptor, closed when the last reference to this object goes away.
private final class OpenFile: Sendable {
  let name: String
  let descriptor: Int32
  private let expected: String
  /// True after a read that gave nothing. A terminal would wait for more if it were read again.
  private let isAtEnd = Atomic(false)

  init(name: String, descriptor: Int32, expected: String) {
    self.name = name
    self.descriptor = descriptor
    self.expected = expected
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  var isRegular: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  var length: Int? {
    var status = stat()
    guard isRegular, fstat(descriptor, &status) == 0 else { return nil }
    return max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
    while !isAtEnd.load(ordering: .relaxed) {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count == 0, buffer.count > 0 { isAtEnd.store(true, ordering: .relaxed) }
      if count >= 0 { return count }
      if errno != EINTR { throw error(errno) }
    }
    return 0
  }

  func error(_ code: Int32) -> ManifestError {
    switch code {
    case ENOENT: ManifestError(name, "there is no such file")
    case EISDIR: ManifestError(name, "is a directory, not \(expected)")
    default: ManifestError(name, "cannot be read: \(String(cString: strerror(code)))")
    }
  }
}

/// Measures the reading of the manifests for an estimate of the number of rows.
final class InputMeter: Sendable {
  private let progress = Mutex(InputProgress())

  /// The number of all rows.
  var total: RowTotal { progress.withLock { $0.total } }

  /// Changes the state.
  func record<Value: Sendable>(_ change: (inout InputProgress) -> Value) -> Value { progress.withLock { change(&$0) } }
}

extension ByteSource {
  /// Returns this source with its reads recorded in `meter` as those of the manifest `part`.
  func metered(by meter: InputMeter, as part: Int) -> ByteSource {
    var metered = ByteSource(name: name, isFile: isFile) { buffer throws(ManifestError) in
      meter.record { $0.willRead(part) }
      let count = try read(buffer)
      meter.record { $0.didRead(part, count: count) }
      return count
    }
    metered.length = length
    return metered
  }
}

/// The parts of the manifests that have been read, from which the number of all rows is estimated. A plain value: it is
/// informed of reads and rows.
///
/// A manifest is read in chunks, and a chunk is read when the rows of the chunks before it have been returned. At that
/// moment the rows and bytes so far belong together, so the estimate uses only these moments.
struct InputProgress: Hashable, Sendable {
  private struct Part: Hashable {
    /// The number of bytes in the file; nil if it is not a file.
    var size: Int?
    /// The number of rows, if the format has it.
    var knownRows: Int?
    var bytes = 0
    var rows = 0
    /// The rows and bytes at the last read.
    var sampledBytes = 0
    var sampledRows = 0
    var isEnded = false

    var exactRows: Int? { isEnded ? rows : knownRows }

    /// The rows and bytes that belong together; nil before there are any.
    var measured: (rows: Int, bytes: Int)? {
      guard let size else { return nil }
      if let exactRows { return (exactRows, size) }
      return sampledRows > 0 ? (sampledRows, sampledBytes) : nil
    }

    /// Returns the number of rows if the rest has `density` rows per byte: at least those that have been read.
    func rows(ifDensityIs density: Double) -> Int {
      if let exactRows { return exactRows }
      let rest = Double(max(0, (size ?? 0) - sampledBytes)) * density
      return max(rows, sampledRows + Int(min(rest, 1e15)))
    }
  }

  private var parts: [Part] = []

  /// Creates the state before any manifest is open.
  init() {}

  /// Adds a manifest of `size` bytes, as stored; nil for a pipe and for URLs as arguments. Returns its number.
  mutating func add(size: Int?) -> Int {
    parts.append(Part(size: size))
    return parts.count - 1
  }

  /// Records that the manifest `part` has `count` rows.
  mutating func setRows(_ count: Int, of part: Int) { parts[part].knownRows = count }

  /// Records that the bytes read so far from the manifest `part` contain `count` rows, which it has not returned yet.
  mutating func setReadAhead(_ count: Int, of part: Int) {
    (parts[part].sampledBytes, parts[part].sampledRows) = (parts[part].bytes, count)
  }

  /// Records a read of the manifest `part` that begins now.
  mutating func willRead(_ part: Int) {
    guard parts[part].rows > 0 else { return }
    (parts[part].sampledBytes, parts[part].sampledRows) = (parts[part].bytes, parts[part].rows)
  }

  /// Records that the read gave `count` bytes.
  mutating func didRead(_ part: Int, count: Int) { parts[part].bytes += count }

  /// Records that the manifest `part` returned a row.
  mutating func passRow(of part: Int) { parts[part].rows += 1 }

  /// Records that the manifest `part` has no more rows.
  mutating func end(_ part: Int) { parts[part].isEnded = true }

  /// The number of all rows.
  var total: RowTotal {
    let known = parts.compactMap(\.exactRows)
    if known.count == parts.count { return .exactly(known.reduce(0, +)) }
    guard let density, parts.allSatisfy({ $0.size != nil || $0.exactRows != nil }) else { return .unknown }
    return .about(parts.reduce(0) { sum, part in sum + part.rows(ifDensityIs: density) })
  }

  /// The number of rows per byte, in what has been read; nil if that is not enough for an estimate.
  private var density: Double? {
    let measured = parts.compactMap(\.measured)
    let bytes = measured.reduce(0) { $0 + $1.bytes }
    let rows = measured.reduce(0) { $0 + $1.rows }
    return bytes > 0 ? Double(rows) / Double(bytes) : nil
  }
}
