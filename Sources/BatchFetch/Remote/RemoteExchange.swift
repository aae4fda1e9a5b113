internal import HTTPTypes
internal import Synchronization

/// One request to the server of a remote cache and its response.
final class RemoteExchange: TransferReceiver {
  /// A complete response. The body is that of a 200.
  struct Response: Sendable {
    var status = 0
    var body: [UInt8] = []
  }

  /// The meaning of the end of an exchange: for the breaker, and for the caller, who is informed by `deliver`.
  struct Ending: Sendable {
    var verdict: RemoteBreaker.Verdict
    var deliver: @Sendable () -> Void
  }

  private struct State {
    var response = Response()
    var ended: (@Sendable (Result<Response, FetchFailure>) -> Void)?
  }

  let request: TransferRequest
  /// Holds the place where the exchange waits, then the transfer.
  let slot: TokenSlot
  private let interpret: @Sendable (Result<Response, FetchFailure>, Duration) -> Ending
  private let state = Mutex(State())

  /// - Parameters:
  ///   - request: The request to send.
  ///   - priority: The order among the requests that wait.
  ///   - interpret: Returns the meaning of the end, given the duration of the transfer. May take its time.
  init(
    _ request: TransferRequest, priority: Priority,
    interpret: @escaping @Sendable (Result<Response, FetchFailure>, Duration) -> Ending
  ) {
    self.request = request
    self.interpret = interpret
    slot = TokenSlot(priority: priority)
  }

  /// Sends the request. `ended` is called once, on a thread of the transport, which must not be blocked.
  func start(over transport: any Transport, ended: @escaping @Sendable (Result<Response, FetchFailure>) -> Void) {
    state.withLock { $0.ended = ended }
    slot.end()
    slot.run { _ in
      let transfer = transport.start(request, receiver: self)
      return WorkHandle(cancel: { transfer.cancel() })
    }
  }

  /// Returns the meaning of the end.
  func ending(_ result: Result<Response, FetchFailure>, after elapsed: Duration = .zero) -> Ending {
    interpret(result, elapsed)
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    if let length = head.declaredLength, length > request.limits.maxBytes, head.response.status == .ok {
      throw tooLarge
    }
    state.withLock { $0.response.status = head.response.status.code }
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    let count = state.withLock { state in
      state.response.body.append(contentsOf: bytes)
      return state.response.body.count
    }
    if count > request.limits.maxBytes { throw tooLarge }
  }

  func receiveEnd(_ failure: FetchFailure?) {
    slot.end()
    let (response, ended) = state.withLock { ($0.response, $0.ended.take()) }
    ended?(failure.map { .failure($0) } ?? .success(response))
  }

  private var tooLarge: FetchFailure {
    FetchFailure(.tooLargeBytes, "The object is larger than \(request.limits.maxBytes) bytes.")
  }
}
