internal import Foundation
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
    defer { try? file.close() }
    // The cache would only duplicate a local file.
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"])
    try receiver.receive(head: TransferHead(response: response))
    while let data = try chunk(of: file) {
      try data.withUnsafeBytes { bytes in
        Result { () throws(FetchFailure) in try receiver.receive(bytes: bytes) }
      }.get()
    }
  }

  /// Returns the next chunk; nil at the end of the file.
  private func chunk(of file: FileHandle) throws(FetchFailure) -> Data? {
    if isCancelled.load(ordering: .relaxed) { throw .cancelled }
    do {
      return try file.read(upToCount: Self.chunk).flatMap { $0.isEmpty ? nil : $0 }
    } catch {
      throw FetchFailure(.fileUnreadable, "\(request.source): \(error.localizedDescription)")
    }
  }

  /// Opens the file; nil unless it is a regular file. A pipe or a device could block its reader forever.
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
