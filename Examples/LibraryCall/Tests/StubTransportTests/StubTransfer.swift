import BatchFetch
import Dispatch
import HTTPTypes
import Synchronization

/// One transfer, for which a test sends the response piece by piece.
final class StubTransfer: Transfer {
  /// The requested URL.
  let url: String
  private let (cancellations, canceled) = AsyncStream.makeStream(of: Void.self)
  /// The receiver, until the transfer has ended.
  private let receiver: Mutex<(any TransferReceiver)?>
  /// Delivers one event at a time, as receivers expect.
  private let queue = DispatchQueue(label: "stub")

  init(_ request: TransferRequest, _ receiver: any TransferReceiver) {
    url = request.source.description
    self.receiver = Mutex(receiver)
  }

  func cancel() {
    canceled.yield()
    end(.cancelled)
  }

  /// Returns when the pipeline has canceled this transfer.
  func isCanceled() async {
    for await _ in cancellations { return }
  }

  /// Sends the head of a response.
  func respond(_ status: HTTPResponse.Status, length: Int) {
    let fields: HTTPFields = [.contentLength: "\(length)"]
    deliver { try $0.receive(head: TransferHead(response: HTTPResponse(status: status, headerFields: fields))) }
  }

  /// Sends some bytes of the body.
  func send(_ bytes: some Collection<UInt8> & Sendable) {
    deliver { receiver in try Array(bytes).withUnsafeBytes { try receiver.receive(bytes: $0) } }
  }

  /// Ends the transfer.
  func end(_ failure: FetchFailure? = nil) {
    queue.async { self.receiver.withLock { $0.take() }?.receiveEnd(failure) }
  }

  /// Delivers an event. If the receiver does not accept it, the transfer ends.
  private func deliver(_ event: @escaping @Sendable (any TransferReceiver) throws -> Void) {
    queue.async {
      do {
        if let receiver = self.receiver.withLock({ $0 }) { try event(receiver) }
      } catch {
        self.end(error as? FetchFailure)
      }
    }
  }
}
