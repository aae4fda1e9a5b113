internal import Foundation
internal import Synchronization

/// One operation queue per host. Its width is the limit per host, and a host that is paused does not delay another. A
/// queue is removed when its last place is left.
final class HostQueues: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Host {
    let queue: OperationQueue
    var places = 0
    var pace = HostPace()
    /// The attempts that became ready during a pause. They continue when it ends.
    var held: [Work] = []
  }

  private let limit: Int
  private let retry: RetryPolicy
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let scheduling: DispatchQueue
  private let hosts = Mutex<[String: Host]>([:])

  /// - Parameter scheduling: where places get their turn.
  init(
    limit: Int, retry: RetryPolicy, clock: any Clock<Duration>, now: @escaping @Sendable () -> Duration,
    scheduling: DispatchQueue
  ) {
    self.limit = limit
    self.retry = retry
    self.clock = clock
    self.now = now
    self.scheduling = scheduling
  }

  /// The number of hosts with places or with a pause.
  var count: Int { hosts.withLock { $0.count } }

  /// Adds a place to the queue of its host. Its end must be reported by ``didLeave(host:)``.
  func add(_ place: QueuePlace, host: String) {
    let queue = hosts.withLock { hosts in
      var entry = hosts[host] ?? Host(queue: makeQueue(host))
      entry.places += 1
      hosts[host] = entry
      return entry.queue
    }
    queue.addOperation(place)
  }

  /// Removes a place that was left, and the queue with the last one.
  func didLeave(host: String) {
    hosts.withLock { hosts in
      hosts[host]?.places -= 1
      hosts.removeIfIdle(host)
    }
  }

  /// Runs `work` at once, or at the end of the pause of the host.
  func whenOpen(host: String, _ work: @escaping Work) {
    let isOpen = hosts.withLock { hosts in
      guard hosts[host]?.pace.closedUntil != nil else { return true }
      hosts[host]?.held.append(work)
      return false
    }
    if isOpen { work() }
  }

  /// Records a response from the host. A refusal pauses the host if it is repeated or comes with `Retry-After`.
  func didRespond(host: String, isRefusal: Bool, retryAfter: Duration?) {
    let now = now()
    let end = hosts.withLock { hosts -> Duration? in
      guard isRefusal else {
        hosts[host]?.pace.accept()
        return nil
      }
      let end = hosts[host]?.pace.refuse(retryAfter: retryAfter, policy: retry, now: now)
      // Under the lock: thread A begins a pause here while thread B ends it in `reopen`. Otherwise B could resume the
      // queue before A suspends it, and it would stay suspended for good.
      if end != nil { hosts[host]?.queue.isSuspended = true }
      return end
    }
    guard let end else { return }
    _ = clock.run(after: end - now) { [weak self] in self?.reopen(host, at: end) }
  }

  private func reopen(_ host: String, at end: Duration) {
    let held = hosts.withLock { hosts -> [Work] in
      guard hosts[host]?.pace.open(at: end) == true else { return [] }
      hosts[host]?.queue.isSuspended = false
      defer { hosts.removeIfIdle(host) }
      return hosts[host]?.takeHeld() ?? []
    }
    for work in held { work() }
  }

  private func makeQueue(_ host: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = "thumbs.host.\(host)"
    queue.maxConcurrentOperationCount = limit
    queue.underlyingQueue = scheduling
    return queue
  }
}

extension HostQueues.Host {
  fileprivate mutating func takeHeld() -> [HostQueues.Work] {
    defer { held = [] }
    return held
  }
}

extension [String: HostQueues.Host] {
  fileprivate mutating func removeIfIdle(_ host: String) {
    if let entry = self[host], entry.places == 0, entry.pace.closedUntil == nil { self[host] = nil }
  }
}
