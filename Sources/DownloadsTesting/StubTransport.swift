internal import Dispatch
public import Downloads
internal import Synchronization

/// A transport without a network, for tests of code that downloads: it has canned responses, or the test plays the
/// server.
///
/// ```swift
/// let transport = StubTransport(["https://images.example/a.png": .response(body: image)])
/// let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport)
/// let set = try await pipeline.thumbnails(for: ThumbnailRequest(url: "https://images.example/a.png", size: 64))
/// ```
///
/// Without a reply, a transfer waits for the test, which sends the response piece by piece:
///
/// ```swift
/// let transport = StubTransport()
/// async let download = Downloader(transport: transport).download(request)
/// let transfer = await transport.nextTransfer()
/// transfer?.respond(length: 2)
/// transfer?.send([1, 2])
/// transfer?.end()
/// print(try await download.body)
/// ```
public final class StubTransport: Transport {
  /// A server's reply to a request.
  public enum Reply: Sendable {
    /// A whole response.
    case response(status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: [UInt8] = [])
    /// No response, but a failure such as `FetchFailure(.connectFailed, "No route.")`.
    case failure(FetchFailure)
    /// Nothing: the transfer waits for the test, which gets it by ``StubTransport/nextTransfer()``.
    case held
  }

  /// The URLs of the transfers that are about to begin, in the order of their preparation.
  public let preparations: AsyncStream<String>
  private let prepared: AsyncStream<String>.Continuation
  private let held = Mailbox<StubTransfer>()
  private let log = Mutex<[TransferRequest]>([])
  private let reply: @Sendable (TransferRequest) -> Reply

  /// Creates a transport.
  ///
  /// - Parameter reply: Returns the reply to each request. Default: all transfers are held.
  public init(_ reply: @escaping @Sendable (TransferRequest) -> Reply = { _ in .held }) {
    self.reply = reply
    (preparations, prepared) = AsyncStream.makeStream(of: String.self)
  }

  /// Creates a transport with the replies to URLs, in canonical form. Any other URL gets the status 404.
  public convenience init(_ replies: [String: Reply]) {
    self.init { replies[$0.source.description] ?? .response(status: .notFound) }
  }

  /// The requests so far, in order.
  public var requests: [TransferRequest] { log.withLock { $0 } }

  /// Returns the next transfer that is held; nil if the task is canceled.
  public func nextTransfer() async -> StubTransfer? { await held.next() }

  /// Succeeds at once, and reports the URL to ``preparations``.
  public func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    completion(nil)
    prepared.yield(source.description)
  }

  /// Replies to the request, or holds it.
  public func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    log.withLock { $0.append(request) }
    let transfer = StubTransfer(request, receiver)
    switch reply(request) {
    case .response(let status, let fields, let body):
      transfer.respond(status, fields: fields, length: fields[.contentLength] == nil ? body.count : nil)
      transfer.send(body)
      transfer.end()
    case .failure(let failure): transfer.end(failure)
    case .held: held.put(transfer)
    }
    return transfer
  }
}

/// One transfer of a ``StubTransport``, for which a test sends the response.
public final class StubTransfer: Transfer {
  /// The requested URL.
  public let url: String
  private let cancellations = Mailbox<Void>()
  /// The receiver, until the transfer has ended.
  private let receiver: Mutex<(any TransferReceiver)?>
  /// Delivers one event at a time, as receivers expect.
  private let queue = DispatchQueue(label: "stub")

  fileprivate init(_ request: TransferRequest, _ receiver: any TransferReceiver) {
    url = request.source.description
    self.receiver = Mutex(receiver)
  }

  /// Ends the transfer with `cancelled`.
  public func cancel() {
    cancellations.put(())
    end(.cancelled)
  }

  /// Returns when the downloader has canceled this transfer, or when the task is canceled.
  public func isCanceled() async { await cancellations.next() }

  /// Sends the head of a response.
  ///
  /// - Parameters:
  ///   - status: The status. Default 200.
  ///   - fields: The header fields. Default: none.
  ///   - length: The value of `Content-Length`. Default nil: none.
  public func respond(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], length: Int? = nil) {
    var fields = fields
    if let length { fields[.contentLength] = "\(length)" }
    let head = TransferHead(response: HTTPResponse(status: status, headerFields: fields))
    deliver { receiver throws(FetchFailure) in try receiver.receive(head: head) }
  }

  /// Sends some bytes of the body.
  public func send(_ bytes: some Collection<UInt8> & Sendable) {
    deliver { receiver throws(FetchFailure) in try receiver.receive(Array(bytes)) }
  }

  /// Ends the transfer: with a failure, or by default with the whole body.
  public func end(_ failure: FetchFailure? = nil) {
    queue.async { self.receiver.withLock { $0.take() }?.receiveEnd(failure) }
  }

  /// Delivers an event. If the receiver does not accept it, the transfer ends.
  private func deliver(_ event: @escaping @Sendable (any TransferReceiver) throws(FetchFailure) -> Void) {
    queue.async {
      do throws(FetchFailure) {
        if let receiver = self.receiver.withLock({ $0 }) { try event(receiver) }
      } catch {
        // At once, before the events that follow in the queue.
        self.receiver.withLock { $0.take() }?.receiveEnd(error)
      }
    }
  }
}

/// Elements that wait for tasks, or tasks that wait for elements. A task that is canceled takes none.
private final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var tasks: [(id: Int, continuation: CheckedContinuation<Element?, Never>)] = []
    var lastID = 0
  }

  private let state = Mutex(State())

  func put(_ element: Element) {
    let task = state.withLock { state -> CheckedContinuation<Element?, Never>? in
      if state.tasks.isEmpty { state.elements.append(element) }
      return state.tasks.isEmpty ? nil : state.tasks.removeFirst().continuation
    }
    task?.resume(returning: element)
  }

  /// Returns the next element; nil if the task is canceled.
  @discardableResult
  func next() async -> Element? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (element, isReady) = state.withLock { state -> (Element?, Bool) in
          // After the cancellation, nobody would resume the task.
          if Task.isCancelled { return (nil, true) }
          if !state.elements.isEmpty { return (state.elements.removeFirst(), true) }
          state.tasks.append((id, continuation))
          return (nil, false)
        }
        if isReady { continuation.resume(returning: element) }
      }
    } onCancel: {
      state.withLock { state in
        let index = state.tasks.firstIndex { $0.id == id }
        return index.map { state.tasks.remove(at: $0).continuation }
      }?.resume(returning: nil)
    }
  }
}
