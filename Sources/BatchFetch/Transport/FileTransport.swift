internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// Answers for local files as a server would: 200 with the bytes, or 404.
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
      return try receiver.receive(head: head(.notFound))
    }
    defer { try? file.close() }
    try receiver.receive(head: head(.ok))
    while let data = try chunk(of: file) {
      try data.withUnsafeBytes { bytes in
        Result { () throws(FetchFailure) in try receiver.receive(bytes: bytes) }
      }.get()
    }
  }

  /// A file is its own best copy: it is not stored.
  private func head(_ status: HTTPResponse.Status) -> TransferHead {
    TransferHead(response: HTTPResponse(status: status, headerFields: [.cacheControl: "no-store"]))
  }

  /// Nil at the end of the file.
  private func chunk(of file: FileHandle) throws(FetchFailure) -> Data? {
    if isCancelled.load(ordering: .relaxed) { throw .cancelled }
    do {
      return try file.read(upToCount: Self.chunk).flatMap { $0.isEmpty ? nil : $0 }
    } catch {
      throw FetchFailure(.connectionLost, "\(request.source): \(error.localizedDescription)")
    }
  }

  /// A pipe or a device could keep its reader waiting for ever.
  private func openRegularFile() -> FileHandle? {
    guard let path = String(request.source.description.dropFirst("file://".count)).removingPercentEncoding,
      let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType,
      type == .typeRegular
    else { return nil }
    return FileHandle(forReadingAtPath: path)
  }
}
