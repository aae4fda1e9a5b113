internal import Dispatch
internal import Synchronization

extension RemoteCache {
  /// The URL of the server, without credentials.
  public var url: String { location.prefix }

  /// Requests an object that does not exist. Returns the reason why lookups would fail, as a sentence, or nil if they
  /// would not. Blocks until the server has responded, at most for ``connectTimeout`` and ``readTimeout``.
  public func check() -> String? { check(over: CurlTransport(connections)) }

  func check(over transport: any Transport) -> String? {
    let store = RemoteStore(self, transport: transport, now: ContinuousClock().stopwatch())
    let waiting = WaitingCheck()
    _ = store.get(Self.missingName, maxBytes: TransferLimits.maxUnwantedBytes, .high) { _ in
      Bool?.none
    } completion: {
      waiting.end($0)
    }
    return waiting.flaw()
  }

  /// The name of a source with a key that no URL has.
  private static let missingName = "s/" + String(repeating: "0", count: 32)
}

/// A request whose result a thread waits for.
private final class WaitingCheck: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let result = Mutex(RemoteResult<Bool>.missing)

  func end(_ result: RemoteResult<Bool>) {
    self.result.withLock { $0 = result }
    done.signal()
  }

  /// Waits for the result. Returns nil if the server is fine.
  func flaw() -> String? {
    done.wait()
    return switch result.withLock({ $0 }) {
    case .missing: nil
    case .failed(.timeout(let text)), .failed(.error(let text)): text
    case .found, .failed(.unusable): "The server has an object that was never written."
    case .failed(.skipped), .failed(.cancelled): "The request was not sent."
    }
  }
}
