import BatchFetch
import Foundation
import Synchronization

/// A benchmark of the event loop alone. It collects each response and only counts it.
final class TransportBench: Sendable {
  private let transport: CurlTransport
  private let window: DispatchSemaphore
  private let group = DispatchGroup()
  private let sums = Mutex((good: 0, bytes: 0))

  init(_ transport: CurlTransport, width: Int) {
    self.transport = transport
    window = DispatchSemaphore(value: width)
  }

  func run(_ urls: [String]) -> (Int, Int) {
    for url in urls {
      window.wait()
      group.enter()
      guard let source = try? SourceURL(url) else { fatalError("Not a URL: \(url)") }
      _ = transport.start(TransferRequest(source: source), receiver: Collector(self))
    }
    group.wait()
    return sums.withLock { ($0.good, $0.bytes) }
  }

  private func ended(_ failure: FetchFailure?, bytes: Int) {
    sums.withLock { sums in
      sums.good += failure == nil ? 1 : 0
      sums.bytes += bytes
    }
    window.signal()
    group.leave()
  }

  private final class Collector: TransferReceiver {
    private let bench: TransportBench
    private let body = Mutex<[UInt8]>([])

    init(_ bench: TransportBench) { self.bench = bench }

    func receive(head: TransferHead) {
      body.withLock { $0.reserveCapacity(head.declaredLength ?? 0) }
    }

    func receive(bytes: UnsafeRawBufferPointer) {
      body.withLock { $0.append(contentsOf: bytes) }
    }

    func receiveEnd(_ failure: FetchFailure?) { bench.ended(failure, bytes: body.withLock { $0.count }) }
  }
}
