internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Synchronization

/// A transport that reads local files and delivers them like responses of a server.
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
    guard let file = openRegularFile() else {
      throw FetchFailure(.fileUnreadable, "\(request.source) is missing, is not a regular file, or cannot be read.")
    }
    defer { close(file.descriptor) }
    // The cache would only duplicate a local file.
    var fields: HTTPFields = [.cacheControl: "no-store"]
    // Some file systems do not know the sizes of their files, and report 0.
    if file.size > 0 { fields[.contentLength] = "\(file.size)" }
    try receiver.receive(head: TransferHead(response: HTTPResponse(status: .ok, headerFields: fields)))
    // `FileHandle` would read blocks of 4 KiB.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 64)
    defer { buffer.deallocate() }
    var count = 0
    while let bytes = try chunk(of: file.descriptor, buffer) {
      try receiver.receive(bytes: bytes)
      count += bytes.count
    }
    guard file.size == 0 || count == file.size else {
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
  private func openRegularFile() -> (descriptor: Int32, size: Int)? {
    // A C string would end at a zero byte, and name another file.
    guard let path = String(request.source.description.dropFirst("file://".count)).removingPercentEncoding,
      !path.utf8.contains(0)
    else { return nil }
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return (descriptor, Int(status.st_size)) }
    close(descriptor)
    return nil
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
