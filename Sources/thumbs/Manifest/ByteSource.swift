import Glibc
import Synchronization

/// Bytes that come in pieces: a file, standard input, or what a filter makes of them.
struct ByteSource: Sendable {
  /// What messages call it.
  let name: String
  /// Whether it is a file, all of which is there: reading never waits for somebody who writes. Default no.
  var isFile = false
  /// Puts the next bytes into the buffer and returns their number, 0 at the end. Waits for at least one.
  let read: @Sendable (UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int
}

extension ByteSource {
  /// The file at `path`, or standard input for `-`.
  static func open(_ path: String) throws(ManifestError) -> ByteSource {
    if path == "-" { return ByteSource(OpenFile(name: "standard input", descriptor: dup(STDIN_FILENO))) }
    let file = OpenFile(name: path, descriptor: Glibc.open(path, O_RDONLY | O_CLOEXEC))
    guard file.descriptor >= 0 else { throw file.error(errno) }
    return ByteSource(file)
  }

  /// These bytes, unpacked where they are gzip data.
  func unpacked() -> ByteSource {
    let filter = Mutex(GzipFilter(self))
    return ByteSource(name: name, isFile: isFile) { buffer throws(ManifestError) in
      try filter.withLock { filter throws(ManifestError) in try filter.read(into: buffer) }
    }
  }

  private init(_ file: OpenFile) {
    self.init(name: file.name, isFile: file.isRegular) { buffer throws(ManifestError) in try file.read(into: buffer) }
  }
}

/// An open descriptor, closed with the last reference to it.
private final class OpenFile: Sendable {
  let name: String
  let descriptor: Int32

  init(name: String, descriptor: Int32) {
    self.name = name
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  var isRegular: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw error(errno) }
    }
  }

  func error(_ code: Int32) -> ManifestError {
    switch code {
    case ENOENT: ManifestError(name, "there is no such file")
    case EISDIR: ManifestError(name, "is a directory, not a manifest")
    default: ManifestError(name, "cannot be read: \(String(cString: strerror(code)))")
    }
  }
}
