import Glibc
import Synchronization

/// A report that is read twice. One that cannot be, such as a pipe, is copied to a file without a name first.
struct ReportSource: Sendable {
  /// The path, or `standard input`.
  let name: String
  private let path: String
  private let version: FileVersion?
  private let copy: NamedFile?

  /// Opens the report at `path`, which may be compressed with gzip; `-` is standard input.
  ///
  /// - Throws: A `ManifestError` if it cannot be read, and an `OutputError` if it cannot be copied.
  init(path: String) throws {
    let source = try ByteSource.open(path, expecting: "a report")
    (name, self.path) = (source.name, path)
    version = path == "-" ? nil : FileVersion(path: path)
    guard path == "-" || !source.isFile else {
      copy = nil
      return
    }
    let file = NamedFile(descriptor: try FileDescriptor.unnamedFile(in: "/tmp"), name: source.name)
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try chunk.withUnsafeMutableBytes { try source.read($0) }
      if count == 0 { break }
      let code = FileDescriptor.writeAll(chunk[..<count], to: file.descriptor).code
      if code != 0 { throw OutputError(action: .write, path: "a copy of \(source.name)", code: code) }
    }
    copy = file
  }

  /// The identity of the file; nil if it is not a regular file.
  var identity: FileIdentity? { path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path) }

  /// Returns the lines from the beginning.
  ///
  /// - Throws: A `ManifestError` if the file has changed since it was opened.
  func lines() throws(ManifestError) -> LineReader {
    let source: ByteSource
    if let copy {
      source = Self.bytes(of: copy)
    } else {
      source = try .open(path, expecting: "a report")
      guard FileVersion(path: path) == version else { throw ManifestError(name, "was changed while it was read") }
    }
    return LineReader(source.unpacked(), longestLine: RetryReport.longestLine)
  }

  /// Calls `body` with the lines whose numbers are in `numbers`, which ascend.
  ///
  /// - Throws: A `ManifestError` if the report does not have them any more.
  func forEach(of numbers: [UInt32], _ body: ([UInt8]) throws -> Void) throws {
    var (rest, lines) = (numbers[...], try lines())
    while let next = rest.first {
      guard let line = try lines.next(), line.number <= Int(next) else {
        throw ManifestError(name, "was changed while it was read")
      }
      guard line.number == Int(next) else { continue }
      try body(line.bytes ?? [])
      rest.removeFirst()
    }
  }

  private static func bytes(of file: NamedFile) -> ByteSource {
    let offset = Atomic(0)
    return ByteSource(name: file.name, isFile: true) { buffer throws(ManifestError) in
      let count = pread(file.descriptor, buffer.baseAddress, buffer.count, offset.load(ordering: .relaxed))
      guard count >= 0 else { throw ManifestError(file.name, "cannot be read: \(String(cString: strerror(errno)))") }
      offset.add(count, ordering: .relaxed)
      return count
    }
  }
}
