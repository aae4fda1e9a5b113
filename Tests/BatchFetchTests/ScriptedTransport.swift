import Dispatch
import HTTPTypes
import Synchronization
import TestSupport

@testable import BatchFetch

/// A transport without sockets: each request is answered by the steps a test gives.
final class ScriptedTransport: Transport {
  enum Step: Sendable {
    case head(Int, HTTPFields)
    case bytes([UInt8])
    case fail(FailureCode)
    case end
    /// Nothing, until the test calls ``ScriptedExchange/resume()``.
    case hold
  }

  typealias Script = @Sendable (_ request: TransferRequest, _ number: Int) -> [Step]

  /// All exchanges, in the order they began.
  let exchanges = Recorder<ScriptedExchange>()
  /// How many were on their way at the same time.
  let load = LoadMeter()
  private let script: Script
  private let count = Counter()

  /// - Parameter script: answers a request; `number` is 1 for the first one.
  init(_ script: @escaping Script) { self.script = script }

  /// The requests so far.
  var requests: [TransferRequest] { exchanges.values.map(\.request) }

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let exchange = ScriptedExchange(request, script(request, count.next()), to: receiver, load)
    exchanges.record(exchange)
    exchange.resume()
    return exchange
  }
}

/// One exchange of a scripted transport.
final class ScriptedExchange: Transfer {
  let request: TransferRequest
  private let receiver: any TransferReceiver
  private let load: LoadMeter
  /// The steps that are left; nil when the exchange is over.
  private let steps: Mutex<[ScriptedTransport.Step]?>
  /// A receiver is told everything from one thread at a time.
  private let queue = DispatchQueue(label: "scripted-exchange")

  init(
    _ request: TransferRequest, _ steps: [ScriptedTransport.Step], to receiver: any TransferReceiver, _ load: LoadMeter
  ) {
    self.request = request
    self.receiver = receiver
    self.load = load
    self.steps = Mutex(steps)
    load.enter()
  }

  /// Goes on with the steps, up to the next hold.
  func resume() { queue.async { self.play() } }

  func cancel() { queue.async { self.end(.cancelled) } }

  private func play() {
    while let step = steps.withLock({ $0?.isEmpty == false ? $0?.removeFirst() : nil }) {
      do throws(FetchFailure) {
        switch step {
        case .head(let status, let fields):
          try receiver.receive(
            head: TransferHead(response: HTTPResponse(status: .init(code: status), headerFields: fields)))
        case .bytes(let bytes): try receive(bytes)
        case .fail(let code): end(FetchFailure(code, "As the script says."))
        case .end: end(nil)
        case .hold: return
        }
      } catch {
        end(error)
      }
    }
  }

  private func receive(_ bytes: [UInt8]) throws(FetchFailure) {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(FetchFailure) in try receiver.receive(bytes: bytes) }
    }.get()
  }

  private func end(_ failure: FetchFailure?) {
    let isFirst = steps.withLock { steps in
      defer { steps = nil }
      return steps != nil
    }
    guard isFirst else { return }
    load.leave()
    receiver.receiveEnd(failure)
  }
}

extension [ScriptedTransport.Step] {
  /// A whole answer.
  static func answer(_ body: [UInt8], status: Int = 200, fields: HTTPFields = [:]) -> Self {
    [.head(status, fields), .bytes(body), .end]
  }
}
