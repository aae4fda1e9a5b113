internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Synchronization

/// A transport that reads local files and `data:` URLs, and delivers them like responses of a server. The inode, size
/// and time of change of a file are its entity tag, so that a file that has not changed is not read again.
public struct FileTransport: Transport {
  /// A queue for blocking reads. The downloader limits the number of concurrent transfers, and so of reads.
  private let queue = DispatchQueue(label: "thumbs.files", attributes: .concurrent)

  /// Creates a transport for URLs with the scheme `file`.
  public init() {}

  /// Reads the file in the background.
  public func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let reading = FileReading(request: request, receiver: receiver)
    queue.async { reading.run() }
    return reading
  }
}

private final class FileReading: Transfer {
  private static let chunk = 256 << 10
  private let request: TransferRequest
  private let receiver: any TransferReceiver
  private let isCancelled = Atomic(false)

  init(request: TransferRequest, receiver: any TransferReceiver) {
    self.request = request
    self.receiver = receiver
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  func run() {
    do throws(FetchFailure) {
      try read()
      receiver.receiveEnd(nil)
    } catch {
      receiver.receiveEnd(error)
    }
  }

  private func read() throws(FetchFailure) {
    if let data = request.source.data { return try deliver(data) }
    guard let file = openRegularFile() else {
      throw FetchFailure(.fileUnreadable, "\(request.source) is missing, is not a regular file, or cannot be read.")
    }
    defer { close(file.descriptor) }
    let response = file.status.response(to: request.headerFields)
    try receiver.receive(head: TransferHead(response: response))
    if response.status == .ok { try readBody(of: file.descriptor, size: Int(file.status.st_size)) }
  }

  /// Delivers the bytes of a `data:` URL, which never change.
  private func deliver(_ data: [UInt8]) throws(FetchFailure) {
    let fields: HTTPFields = [.cacheControl: "max-age=31536000", .contentLength: "\(data.count)"]
    try receiver.receive(head: TransferHead(response: HTTPResponse(status: .ok, headerFields: fields)))
    for start in stride(from: 0, to: data.count, by: Self.chunk) {
      if isCancelled.load(ordering: .relaxed) { throw .cancelled }
      let part = Array(data[start..<min(start + Self.chunk, data.count)])
      try part.span.withUnsafeBytes { bytes throws(FetchFailure) in try receiver.receive(bytes: bytes) }
    }
  }

  private func readBody(of descriptor: Int32, size: Int) throws(FetchFailure) {
    // `FileHandle` would read blocks of 4 KiB.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 64)
    defer { buffer.deallocate() }
    var count = 0
    while let bytes = try chunk(of: descriptor, buffer) {
      try receiver.receive(bytes: bytes)
      count += bytes.count
    }
    guard size == 0 || count == size else {
      throw FetchFailure(.truncated, "\(request.source) has changed while it was read.")
    }
  }

  /// Reads the next chunk into `buffer`, and returns it; nil at the end of the file.
  private func chunk(
    of descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(FetchFailure) -> UnsafeRawBufferPointer? {
    if isCancelled.load(ordering: .relaxed) { throw .cancelled }
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count == 0 ? nil : UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
      guard errno == EINTR else {
        throw FetchFailure(.fileUnreadable, "\(request.source): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Opens the file; nil unless it is a regular file. A pipe or a device could block its reader forever.
  private func openRegularFile() -> (descriptor: Int32, status: stat)? {
    guard let path = request.source.filePath else { return nil }
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return (descriptor, status) }
    close(descriptor)
    return nil
  }
}

extension SourceURL {
  /// The entity tag of a local file, which a response of ``FileTransport`` has; nil if it has none.
  package var fileEntityTag: String? {
    var status = stat()
    guard let path = filePath, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.entityTag
  }
}

extension stat {
  /// The time in seconds for which a file may change again without another time of change. Network file systems and
  /// those of memory cards count in units of up to two seconds.
  private static let clockUnit = 2

  /// Returns the head of the response to a request with `fields`: a 304 if they name the entity tag of the file.
  fileprivate func response(to fields: HTTPFields) -> HTTPResponse {
    let tag = entityTag
    // A cached image is used only if the file confirms it.
    var head: HTTPFields = [.cacheControl: tag == nil ? "no-store" : "no-cache"]
    head[.eTag] = tag
    if let tag, fields[.ifNoneMatch] == tag { return HTTPResponse(status: .notModified, headerFields: head) }
    // Some file systems do not know the sizes of their files, and report 0.
    if st_size > 0 { head[.contentLength] = "\(st_size)" }
    return HTTPResponse(status: .ok, headerFields: head)
  }

  /// The entity tag of the file; nil if it was changed so recently that another change may leave its time as it is.
  fileprivate var entityTag: String? {
    guard st_size > 0, st_mtim.tv_sec < time(nil) - Self.clockUnit else { return nil }
    return "\"\(st_ino)-\(st_size)-\(st_mtim.tv_sec).\(st_mtim.tv_nsec)\""
  }
}

/// The permission to read local files as sources. Refuse it for lists of URLs from someone you do not trust.
public enum FileAccess: Hashable, Sendable {
  /// Local files fail with `blocked_scheme`.
  case refused
  /// Local files are read.
  case allowed

  /// Throws `blocked_scheme` if `source` is a local file and reading files is refused.
  public func check(_ source: SourceURL) throws(FetchFailure) {
    guard source.scheme != .file || self == .allowed else {
      throw FetchFailure(.blockedScheme, "Reading local files is not allowed.")
    }
  }
}
