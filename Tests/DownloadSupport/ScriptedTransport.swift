internal import Dispatch
package import Downloads
package import HTTPTypes
internal import Synchronization
package import TestSupport

/// A transport without sockets that responds to each request with the steps of a test.
package final class ScriptedTransport: Transport {
  package enum Step: Sendable {
    case sent
    case head(Int, HTTPFields)
    case bytes([UInt8])
    case fail(FailureCode)
    case end
    /// Waits until the test calls ``ScriptedExchange/resume()``.
    case hold
  }

  package typealias Script = @Sendable (_ request: TransferRequest, _ number: Int) -> [Step]

  /// All exchanges, in the order in which they started.
  package let exchanges = Recorder<ScriptedExchange>()
  /// The number of concurrent exchanges.
  package let load = LoadMeter()
  private let script: Script
  private let count = Counter()

  /// - Parameter script: returns the steps for a request; `number` is 1 for the first one.
  package init(_ script: @escaping Script) { self.script = script }

  /// The requests so far.
  package var requests: [TransferRequest] { exchanges.values.map(\.request) }

  package func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let exchange = ScriptedExchange(request, script(request, count.next()), to: receiver, load)
    // In this order: a test that finds the exchange continues it after its first steps, and these begin when the test
    // can find it.
    exchange.resume()
    exchanges.record(exchange)
    exchange.activate()
    return exchange
  }
}

/// One exchange of a scripted transport.
package final class ScriptedExchange: Transfer {
  fileprivate struct Script {
    var steps: [ScriptedTransport.Step]
    let receiver: any TransferReceiver
  }

  package let request: TransferRequest
  private let load: LoadMeter
  /// The remaining steps; nil after the end, so that an ended exchange does not keep its receiver alive.
  private let script: Mutex<Script?>
  /// The queue that delivers all events, because a receiver expects one event at a time.
  private let queue = DispatchQueue(label: "scripted-exchange", attributes: .initiallyInactive)

  package init(
    _ request: TransferRequest, _ steps: [ScriptedTransport.Step], to receiver: any TransferReceiver, _ load: LoadMeter
  ) {
    self.request = request
    self.load = load
    script = Mutex(Script(steps: steps, receiver: receiver))
    load.enter()
  }

  /// Begins to deliver events.
  fileprivate func activate() { queue.activate() }

  /// Plays the steps up to the next `hold`.
  package func resume() { queue.async { self.play() } }

  /// Returns when the steps up to the next `hold` are played.
  package func played() async { await withCheckedContinuation { done in queue.async { done.resume() } } }

  package func cancel() { queue.async { self.end(.cancelled) } }

  private func play() {
    while let (step, receiver) = script.withLock({ $0?.next() }) {
      do throws(FetchFailure) {
        switch step {
        case .sent: receiver.requestSent()
        case .head(let status, let fields):
          try receiver.receive(
            head: TransferHead(response: HTTPResponse(status: .init(code: status), headerFields: fields)))
        case .bytes(let bytes): try receiver.receive(bytes)
        case .fail(let code): end(FetchFailure(code, "The script fails here."))
        case .end: end(nil)
        case .hold: return
        }
      } catch {
        end(error)
      }
    }
  }

  private func end(_ failure: FetchFailure?) {
    guard let receiver = script.withLock({ $0.take()?.receiver }) else { return }
    load.leave()
    receiver.receiveEnd(failure)
  }
}

extension ScriptedExchange.Script {
  fileprivate mutating func next() -> (ScriptedTransport.Step, any TransferReceiver)? {
    steps.isEmpty ? nil : (steps.removeFirst(), receiver)
  }
}

extension [ScriptedTransport.Step] {
  /// Returns the steps of a complete response.
  package static func response(_ body: [UInt8], status: Int = 200, fields: HTTPFields = [:]) -> Self {
    [.head(status, fields), .bytes(body), .end]
  }
}

extension ScriptedTransport {
  /// The last path components of all requests, in order.
  package var paths: [String] { requests.map(\.source.lastPathComponent) }

  /// Lets the first `count` exchanges continue, each as soon as it has begun.
  package func resume(first count: Int) async {
    for index in 0..<count { await exchanges.values(count: index + 1)[index].resume() }
  }

  /// A transport that sends half of the requested bytes of `body`, holds, and sends the rest.
  package static func halving(_ body: [UInt8]) -> ScriptedTransport {
    ScriptedTransport { request, _ in
      let first = request.firstByte ?? 0
      let middle = (first + body.count) / 2
      let head: Step =
        first == 0
        ? .head(200, [.eTag: "\"1\"", .contentLength: "\(body.count)"])
        : .head(206, [.contentRange: "bytes \(first)-\(body.count - 1)/\(body.count)"])
      return [head, .bytes(Array(body[first..<middle])), .hold, .bytes(Array(body[middle...])), .end]
    }
  }
}
