import Dispatch
import Testing

@testable import ImageCache

@Suite("The striped counter")
struct StripedCounterTests {
  /// A box, because closures cannot capture the counter itself.
  private final class Box: Sendable { let counter = StripedCounter() }

  @Test func `Increments on any stripe by several threads are all counted`() {
    let box = Box()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<1000 { box.counter.increment(UInt64(number * 4 + thread) << 6) }
    }
    #expect(box.counter.value == 4000)
  }
}
