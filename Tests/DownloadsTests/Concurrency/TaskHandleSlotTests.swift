import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

@Suite struct TaskHandleSlotTests {
  enum Event: CaseIterable, Sendable {
    case fill, end, cancel, cancelRound, raise, pause
  }

  /// Every order of filling the slot, ending the piece and one request, with and without the end.
  static let orders: [[Event]] = [Event.cancel, .cancelRound, .raise, .pause].flatMap { request in
    permutations(of: [.fill, request]) + permutations(of: [.fill, .end, request])
  }

  private static func permutations(of events: [Event]) -> [[Event]] {
    guard let first = events.first else { return [[]] }
    return permutations(of: Array(events.dropFirst())).flatMap { rest in
      (0...rest.count).map { rest[..<$0] + [first] + rest[$0...] }
    }
  }

  /// A handle that records the requests it gets.
  private func handle(_ name: String, _ requests: Recorder<String>) -> WorkHandle {
    WorkHandle {
      requests.record(name + "cancel")
    } setPriority: {
      requests.record(name + "\($0)")
    } setPaused: {
      requests.record(name + ($0 ? "pause" : "resume"))
    }
  }

  @Test(arguments: orders)
  func `A request reaches its piece of work in any order of events, unless the piece has ended`(order: [Event]) throws {
    let slot = TaskHandleSlot()
    let requests = Recorder<String>()
    let round = slot.begin()

    for event in order {
      switch event {
      case .fill: slot.fill(round, with: handle("", requests), begunWith: Demand())
      case .end: slot.end()
      case .cancel: slot.cancel()
      case .cancelRound: slot.cancel(round)
      case .raise: slot.setPriority(.high)
      case .pause: slot.setPaused(true)
      }
    }

    let request = try #require(order.first { ![.fill, .end].contains($0) })
    let end = order.firstIndex(of: .end) ?? order.count
    let isReached = order[..<end].contains(.fill) && order[..<end].contains(request)
    let expected = [.raise: "high", .pause: "pause"][request] ?? "cancel"
    #expect(requests.values == (isReached ? [expected] : []))
    let isCancelled = slot.isCancelled
    #expect(isCancelled == (request == .cancel))
  }

  @Test(arguments: [Event.cancel, .raise, .pause])
  func `A request holds for every later piece`(request: Event) {
    let slot = TaskHandleSlot()
    let requests = Recorder<String>()

    switch request {
    case .cancel: slot.cancel()
    case .raise: slot.setPriority(.high)
    default: slot.setPaused(true)
    }
    for name in ["first ", "second "] {
      slot.run { demand in
        requests.record(name + "begins \(demand.priority)" + (demand.isPaused ? " and paused" : ""))
        return handle(name, requests)
      }
      slot.end()
    }

    let begin = [Event.raise: "begins high", .pause: "begins normal and paused"][request] ?? "begins normal"
    let expected = ["first ", "second "].flatMap { name in
      request == .cancel ? [name + begin, name + "cancel"] : [name + begin]
    }
    #expect(requests.values == expected)
  }

  @Test func `A resume during the replay of a pause takes precedence`() {
    final class Holder: Sendable {
      let slot = TaskHandleSlot()
    }
    let holder = Holder()
    let requests = Recorder<Bool>()

    let round = holder.slot.begin()
    holder.slot.setPaused(true)
    let handle = WorkHandle(cancel: {}, setPriority: { _ in }) { isPaused in
      // Another thread resumes while the pause is passed on.
      if isPaused { holder.slot.setPaused(false) }
      requests.record(isPaused)
    }
    holder.slot.fill(round, with: handle, begunWith: Demand())

    #expect(requests.values == [true, false])
  }

  @Test func `A piece that begins with the latest priority does not receive it again`() {
    let slot = TaskHandleSlot(priority: .low)
    let requests = Recorder<String>()

    slot.setPriority(.high)
    slot.run { _ in handle("", requests) }

    #expect(requests.values.isEmpty)
  }

  @Test func `A late handle of an ended piece does not replace that of the next one`() {
    let slot = TaskHandleSlot()
    let requests = Recorder<String>()

    let first = slot.begin()
    slot.end()
    let second = slot.begin()
    slot.fill(second, with: handle("second ", requests))
    slot.fill(first, with: handle("first ", requests))
    slot.cancel(first)
    slot.setPriority(.high)
    slot.cancel()

    #expect(requests.values == ["second high", "second cancel"])
  }

  @Test func `Canceling one piece does not cancel the next one`() {
    let slot = TaskHandleSlot()
    let requests = Recorder<String>()

    slot.cancel(slot.begin())
    slot.end()
    slot.run { _ in handle("", requests) }

    #expect(requests.values.isEmpty)
    let isCancelled = slot.isCancelled
    #expect(!isCancelled)
  }

  @Test func `The handle is dropped when its piece ends`() {
    final class Captured: Sendable {}
    let slot = TaskHandleSlot()
    weak var watched: Captured?

    do {
      let captured = Captured()
      watched = captured
      slot.run { _ in WorkHandle { withExtendedLifetime(captured) {} } }
    }
    let isKept = watched != nil
    slot.end()

    #expect(isKept)
    #expect(watched == nil)
  }

  @Test func `A cancel reaches a download that is begun in the slot`() async throws {
    let downloader = Downloader(transport: ScriptedTransport { _, _ in [.hold] })
    var request = DownloadRequest(source: try SourceURL("http://a.test/"))
    let outcome = Recorder<Outcome>()
    let completion: Downloader.Completion = { outcome.record($0) }

    let slot = TaskHandleSlot()  // usually a property
    slot.run { demand in
      request.priority = demand.priority
      let token = downloader.download(request) { result in
        completion(result)
      }
      return WorkHandle(token)
    }
    slot.cancel()
    slot.end()  // usually in the completion

    #expect(await outcome.only().failure == .cancelled)
  }
}
