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
    var room: RemoteRoom?
    /// The number of bytes taken from the room.
    var taken = 0
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

  /// Sends the request. `ended` is called once, on a thread of the transport, which must not be blocked. The body takes
  /// a part of `room` until ``leaveRoom()``.
  func start(
    over transport: any Transport, in room: RemoteRoom,
    ended: @escaping @Sendable (Result<Response, FetchFailure>) -> Void
  ) {
    state.withLock { ($0.room, $0.ended) = (room, ended) }
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

  /// Gives back the room of the body.
  func leaveRoom() {
    state.withLock { state in
      state.room?.give(state.taken)
      state.taken = 0
    }
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    try state.withLock { state throws(FetchFailure) in
      state.response.status = head.response.status.code
      guard let length = head.declaredLength, head.response.status == .ok else { return }
      try grow(&state, to: length)
      state.response.body.reserveCapacity(max(0, length))
    }
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    try state.withLock { state throws(FetchFailure) in
      try grow(&state, to: state.response.body.count + bytes.count)
      state.response.body.append(contentsOf: bytes)
    }
  }

  /// Takes room for a body of `count` bytes.
  private func grow(_ state: inout State, to count: Int) throws(FetchFailure) {
    if count > request.limits.maxBytes { throw tooLarge }
    guard count > state.taken else { return }
    if let room = state.room, !room.take(count - state.taken) { throw .remoteCacheSkipped }
    state.taken = count
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
