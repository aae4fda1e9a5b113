internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// Reads and writes objects on the server of a remote cache.
final class RemoteClient: Sendable {
  /// The maximum numbers of reads and writes at once.
  static let (readWidth, writeWidth) = (16, 16)

  private let configuration: RemoteCache
  private let reads: RequestLimiter
  private let writes: RequestLimiter

  /// - Parameter now: The time of the breakers, which never goes back.
  init(_ configuration: RemoteCache, transport: any Transport, now: @escaping @Sendable () -> Duration) {
    self.configuration = configuration
    reads = RequestLimiter(
      width: Self.readWidth, timeout: configuration.readTimeout, transport: transport, now: now)
    writes = RequestLimiter(
      width: Self.writeWidth, timeout: configuration.writeTimeout, transport: transport, now: now)
  }

  /// Returns the part of `limit` that is left for uploads. See ``RemoteBreaker/uploadTime(within:)``.
  func uploadTime(within limit: Duration) -> Duration { reads.uploadTime(within: limit) }

  /// Records the end of a lookup. See ``RemoteBreaker/looked(for:isHit:among:at:)``.
  func looked(for duration: Duration, isHit: Bool, among images: Int) {
    reads.looked(for: duration, isHit: isHit, among: images)
  }

  /// Reads an object. Returns a handle that can cancel this and change its priority.
  ///
  /// - Parameters:
  ///   - name: The name of the object.
  ///   - maxBytes: The maximum length of the object.
  ///   - priority: The order among the reads that wait.
  ///   - decode: Returns the value of the object; nil if it is unusable.
  ///   - completion: Called exactly once, on any queue. May block.
  func get<Value: Sendable>(
    _ name: String, maxBytes: Int, _ priority: Priority, decode: @escaping @Sendable ([UInt8]) -> Value?,
    completion: @escaping @Sendable (RemoteResult<Value>) -> Void
  ) -> WorkHandle {
    let limits = configuration.readLimits(maxBytes: maxBytes)
    do throws(FetchFailure) {
      let request = try configuration.location.get(name, limits: limits)
      return reads.add(
        RemoteExchange(request, priority: priority) { response, elapsed in
          let result = RemoteResult(response, decode: decode)
          // A server that is always slow would cost more than it saves.
          let isSlow = elapsed > limits.total / 2
          let verdict = isSlow && result.verdict == .success ? .failure : result.verdict
          return RemoteExchange.Ending(verdict: verdict) { completion(result) }
        })
    } catch {
      completion(.failed(RemoteProblem(error)))
      return WorkHandle {}
    }
  }

  /// Writes an object. Returns a handle that can cancel this.
  ///
  /// - Parameter completion: Called exactly once, on any queue, with nil if the server has the object. May take its
  ///   time.
  func put(_ object: RemoteObject, completion: @escaping @Sendable (RemoteProblem?) -> Void) -> WorkHandle {
    let isS3 = configuration.location.signer != nil
    do throws(FetchFailure) {
      let request = try configuration.location.put(
        object.bytes, as: object.name, object.condition, limits: configuration.writeLimits)
      return writes.add(
        RemoteExchange(request, priority: .normal) { response, _ in
          let problem = RemoteProblem(writing: response, object.condition, isS3: isS3)
          let verdict = problem.map { RemoteBreaker.Verdict($0) } ?? .success
          return RemoteExchange.Ending(verdict: verdict) { completion(problem) }
        })
    } catch {
      completion(RemoteProblem(error))
      return WorkHandle {}
    }
  }
}

extension RemoteResult {
  fileprivate init(
    _ response: Result<RemoteExchange.Response, FetchFailure>, decode: ([UInt8]) -> Value?
  ) {
    switch response {
    case .failure(let failure): self = .failed(RemoteProblem(failure))
    case .success(let response) where response.status == 200:
      self = decode(response.body).map { .found($0) } ?? .failed(.unusable)
    case .success(let response) where [404, 410].contains(response.status): self = .missing
    case .success(let response): self = .failed(RemoteProblem(status: response.status))
    }
  }

  fileprivate var verdict: RemoteBreaker.Verdict {
    if case .failed(let problem) = self { RemoteBreaker.Verdict(problem) } else { .success }
  }
}

extension RemoteProblem {
  fileprivate init(status: Int) { self = .error("The server responded with status \(status).") }

  /// The problem of a write; nil if the server has stored the object, or had it already.
  fileprivate init?(
    writing response: Result<RemoteExchange.Response, FetchFailure>, _ condition: RemoteObject.Condition, isS3: Bool
  ) {
    switch response {
    case .failure(let failure): self.init(failure)
    case .success(let response) where (200...299).contains(response.status): return nil
    // RFC 9110, section 15.5.13.
    case .success(let response) where condition == .absent && response.status == 412: return nil
    // S3 if two writers meet. In WebDAV, a parent collection is missing (RFC 4918, section 9.7.1).
    case .success(let response) where condition == .absent && response.status == 409 && isS3: return nil
    case .success(let response): self.init(status: response.status)
    }
  }
}

extension RemoteBreaker.Verdict {
  /// The server has done its part if an object is unusable: another writer may have damaged it.
  fileprivate init(_ problem: RemoteProblem) {
    switch problem {
    case .cancelled, .skipped: self = .abandoned
    case .unusable: self = .success
    case .timeout, .error: self = .failure
    }
  }
}

/// One request to the server of a remote cache and its response.
private final class RemoteExchange: TransferReceiver {
  /// A complete response. The body is that of a 200.
  struct Response: Sendable {
    var status = 0
    var body: [UInt8] = []
  }

  /// The end of an exchange: the verdict for the breaker, and a closure that informs the caller.
  struct Ending: Sendable {
    var verdict: RemoteBreaker.Verdict
    var deliver: @Sendable () -> Void
  }

  private struct State {
    var response = Response()
    var room: ByteSemaphore?
    /// The number of bytes taken from the room.
    var taken = 0
    var ended: (@Sendable (Result<Response, FetchFailure>) -> Void)?
  }

  let request: TransferRequest
  /// Holds the place where the exchange waits, then the transfer.
  let slot: TaskHandleSlot
  private let interpret: @Sendable (Result<Response, FetchFailure>, Duration) -> Ending
  private let state = Mutex(State())

  /// - Parameters:
  ///   - request: The request to send.
  ///   - priority: The order among the requests that wait.
  ///   - interpret: Returns the meaning of the end, given the duration of the transfer. May block.
  init(
    _ request: TransferRequest, priority: Priority,
    interpret: @escaping @Sendable (Result<Response, FetchFailure>, Duration) -> Ending
  ) {
    self.request = request
    self.interpret = interpret
    slot = TaskHandleSlot(priority: priority)
  }

  /// Sends the request. `ended` is called once, on a thread of the transport, which must not be blocked. The body takes
  /// a part of `room` until ``leaveRoom()``.
  func start(
    over transport: any Transport, in room: ByteSemaphore,
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

/// The requests of one kind to the server of a remote cache: at most a few at once, those with the highest priority
/// first, and none while the breaker is open. One that has waited for too long is not sent anymore.
///
/// Reads and writes have separate limiters, because a server may be full, or not allow writes, and still be read.
private final class RequestLimiter: Sendable {
  private struct Waiting: Sendable {
    let exchange: RemoteExchange
    let since: Duration
  }

  private struct State {
    var running = 0
    var waiting = PriorityQueue<Waiting>()
    var breaker: RemoteBreaker
  }

  private enum Turn {
    case start(RemoteExchange, RemoteBreaker.Permit)
    case refuse(RemoteExchange)
  }

  /// The maximum size of the bodies that are read at once, in bytes: two of the largest objects.
  private static let maxBytes = 16 << 20

  private let width: Int
  /// The time after which a request is not sent anymore.
  private let patience: Duration
  private let transport: any Transport
  private let now: @Sendable () -> Duration
  private let state: Mutex<State>
  private let room = ByteSemaphore(limit: maxBytes)
  /// Interprets responses, which the thread of the transport must not do.
  private let queue = DispatchQueue(label: "thumbs.remote", attributes: .concurrent)

  /// - Parameters:
  ///   - width: The maximum number of requests at once.
  ///   - timeout: The maximum duration of a request. Half of it may be spent with waiting for other requests, and all
  ///     of it is the budget of the breaker.
  ///   - transport: Exchanges requests and responses.
  ///   - now: The time of the breaker.
  init(width: Int, timeout: Duration, transport: any Transport, now: @escaping @Sendable () -> Duration) {
    (self.width, self.transport, self.now) = (width, transport, now)
    patience = timeout / 2
    state = Mutex(State(breaker: RemoteBreaker(budget: timeout)))
  }

  /// See ``RemoteBreaker/uploadTime(within:)``.
  func uploadTime(within limit: Duration) -> Duration { state.withLock { $0.breaker.uploadTime(within: limit) } }

  /// Records the end of a lookup. See ``RemoteBreaker/looked(for:isHit:among:at:)``.
  func looked(for duration: Duration, isHit: Bool, among images: Int) {
    let now = now()
    state.withLock { $0.breaker.looked(for: duration, isHit: isHit, among: images, at: now) }
    advance()
  }

  /// Adds an exchange. Returns a handle that can cancel it and change its priority. Its end is delivered exactly once,
  /// on a queue of the limiter.
  func add(_ exchange: RemoteExchange) -> WorkHandle {
    let waiting = Waiting(exchange: exchange, since: now())
    exchange.slot.run { demand in
      let place = state.withLock { $0.waiting.append(waiting, demand.priority) }
      return WorkHandle { [self] in
        if let removed = state.withLock({ $0.waiting.remove(place) }) { refuse(removed.exchange, .cancelled) }
      } setPriority: { [self] priority in
        state.withLock { $0.waiting.change(place, to: priority) }
      }
    }
    advance()
    return WorkHandle {
      exchange.slot.cancel()
    } setPriority: {
      exchange.slot.setPriority($0)
    }
  }

  private func advance() {
    while let turn = nextTurn() {
      switch turn {
      case .start(let exchange, let permit): start(exchange, permit)
      case .refuse(let exchange): refuse(exchange, .remoteCacheSkipped)
      }
    }
  }

  private func nextTurn() -> Turn? {
    let now = now()
    return state.withLock { state in
      guard state.running < width || state.breaker.refuses(at: now), let next = state.waiting.popFirst() else {
        return nil
      }
      guard now - next.since <= patience, let permit = state.breaker.permit(at: now) else {
        return .refuse(next.exchange)
      }
      state.running += 1
      return .start(next.exchange, permit)
    }
  }

  private func refuse(_ exchange: RemoteExchange, _ failure: FetchFailure) {
    exchange.slot.end()
    queue.async { exchange.ending(.failure(failure)).deliver() }
  }

  private func start(_ exchange: RemoteExchange, _ permit: RemoteBreaker.Permit) {
    let begin = now()
    exchange.start(over: transport, in: room) { [self] result in
      let end = now()
      queue.async { [self] in
        let ending = exchange.ending(result, after: end - begin)
        exchange.leaveRoom()
        state.withLock { state in
          state.running -= 1
          state.breaker.ended(permit, ending.verdict, at: end)
        }
        advance()
        ending.deliver()
      }
    }
  }
}

extension FetchFailure {
  /// The failure of a request that was not sent, or given up, because of other requests.
  static let remoteCacheSkipped = FetchFailure(.hostUnavailable, "The remote cache failed, or was too busy.")
}

/// The memory for responses that are being received. They share it, because each alone may be large.
private final class ByteSemaphore: Sendable {
  private let limit: Int
  private let used = Mutex(0)

  /// - Parameter limit: The maximum number of bytes.
  init(limit: Int) { self.limit = limit }

  /// Takes `count` bytes. Returns false if there are not as many left.
  func take(_ count: Int) -> Bool {
    used.withLock { used in
      guard count <= limit - used else { return false }
      used += count
      return true
    }
  }

  /// Gives `count` bytes back.
  func give(_ count: Int) { used.withLock { $0 -= count } }
}
