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
  let read: @Sendable (UnsafeMutableRawBufferPointer) throws(InputError) -> Int
}

extension ByteSource {
  /// Opens the file at `path`, or standard input if `path` is `-`. The message about a directory names the `expected`
  /// kind of file.
  static func open(_ path: String, expecting expected: String = "a manifest") throws(InputError) -> ByteSource {
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
  static func openRegularFile(_ path: String, expecting expected: String) throws(InputError) -> ByteSource {
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let file = OpenFile(name: path, descriptor: descriptor, expected: expected)
    guard file.descriptor >= 0 else { throw file.error(errno) }
    guard file.isRegular else { throw InputError(path, "is not a regular file; give \(expected)") }
    return ByteSource(file)
  }

  /// Reads everything. Throws if that is more than `limit` bytes.
  func bytes(limit: Int) throws(InputError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= limit {
      let count = try chunk.withUnsafeMutableBufferPointer { chunk throws(InputError) in
        try read(UnsafeMutableRawBufferPointer(chunk))
      }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    throw InputError(name, "is longer than \(ByteSize(count: limit))")
  }

  /// Returns a source of these bytes, decompressed if they are gzip data.
  func unpacked() -> ByteSource {
    let filter = Mutex(GzipFilter(self))
    return ByteSource(name: name, isFile: isFile) { buffer throws(InputError) in
      try filter.withLock { filter throws(InputError) in try filter.read(into: buffer) }
    }
  }

  private init(_ file: OpenFile) {
    self.init(name: file.name, isFile: file.isRegular, length: file.length) { buffer throws(InputError) in
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

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
    while !isAtEnd.load(ordering: .relaxed) {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count == 0, buffer.count > 0 { isAtEnd.store(true, ordering: .relaxed) }
      if count >= 0 { return count }
      if errno != EINTR { throw error(errno) }
    }
    return 0
  }

  func error(_ code: Int32) -> InputError {
    switch code {
    case ENOENT: InputError(name, "there is no such file")
    case EISDIR: InputError(name, "is a directory, not \(expected)")
    default: InputError(name, "cannot be read: \(String(cString: strerror(code)))")
    }
  }
}

/// An error that makes a whole input unusable: a manifest, a report, or the file of an option. For a manifest and a
/// report, the command exits with 65 (`EX_DATAERR`).
struct InputError: Error, Hashable, Sendable {
  /// The place of an error in the file.
  enum Place: Hashable, Sendable {
    /// The file as a whole.
    case whole
    /// A line, from 1.
    case line(Int)
    /// A character of a line, both from 1.
    case column(Int, line: Int)
    /// An item, from 1.
    case item(Int)
  }

  /// The path as given, or `standard input`.
  var file: String
  /// The place of the error in the file.
  var place: Place
  /// The description of the error: the end of a sentence, without its period.
  var reason: String

  /// Creates an error from its parts.
  init(_ file: String, at place: Place = .whole, _ reason: String) {
    self.file = file
    self.place = place
    self.reason = reason
  }
}

extension InputError: CustomStringConvertible {
  /// One sentence with the file, the place and the reason.
  var description: String { place == .whole ? "\(file): \(reason)." : "\(file), \(place): \(reason)." }
}

extension InputError.Place: CustomStringConvertible {
  /// The place in words, such as `line 3, column 7`.
  var description: String {
    switch self {
    case .whole: "somewhere"
    case .line(let line): "line \(line)"
    case .column(let column, let line): "line \(line), column \(column)"
    case .item(let number): "item \(number)"
    }
  }
}
