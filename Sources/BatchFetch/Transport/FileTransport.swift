internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// Answers for local files as a server would.
public struct FileTransport: Transport {
  /// Reading blocks. There are never more reads than transfers at once, which the downloader limits.
  private let queue = DispatchQueue(label: "thumbs.files", attributes: .concurrent)

  /// A transport for addresses of the scheme `file`.
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
      throw FetchFailure(.fileUnreadable, "\(request.source) is missing, is no regular file, or may not be read.")
    }
    defer { try? file.close() }
    // A file is its own best copy: it is not stored.
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"])
    try receiver.receive(head: TransferHead(response: response))
    while let data = try chunk(of: file) {
      try data.withUnsafeBytes { bytes in
        Result { () throws(FetchFailure) in try receiver.receive(bytes: bytes) }
      }.get()
    }
  }

  /// Nil at the end of the file.
  private func chunk(of file: FileHandle) throws(FetchFailure) -> Data? {
    if isCancelled.load(ordering: .relaxed) { throw .cancelled }
    do {
      return try file.read(upToCount: Self.chunk).flatMap { $0.isEmpty ? nil : $0 }
    } catch {
      throw FetchFailure(.fileUnreadable, "\(request.source): \(error.localizedDescription)")
    }
  }

  /// A pipe or a device could keep its reader waiting for ever.
  private func openRegularFile() -> FileHandle? {
    guard let path = String(request.source.description.dropFirst("file://".count)).removingPercentEncoding else {
      return nil
    }
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? file : nil
  }
}
