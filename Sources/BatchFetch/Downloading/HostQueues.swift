internal import Foundation
internal import Synchronization

/// One operation queue a host: its width is the limit of that host, and one host that is asked to wait does not hold
/// back another. A queue goes when its last operation left it.
final class HostQueues: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Host {
    let queue: OperationQueue
    var operations = 0
    var pace = HostPace()
    /// Attempts of running operations that came during a pause.
    var held: [Work] = []
  }

  private let limit: Int
  private let retry: RetryPolicy
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let scheduling: DispatchQueue
  private let hosts = Mutex<[String: Host]>([:])

  /// - Parameter scheduling: where operations are started.
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

  /// The number of hosts with operations, or with a pause.
  var count: Int { hosts.withLock { $0.count } }

  /// Enqueues an operation, which reports its end by ``didLeave(host:)``.
  func add(_ operation: DownloadOperation, host: String) {
    let queue = hosts.withLock { hosts in
      var entry = hosts[host] ?? Host(queue: makeQueue(host))
      entry.operations += 1
      hosts[host] = entry
      return entry.queue
    }
    queue.addOperation(operation)
  }

  /// An operation is finished and has left its queue.
  func didLeave(host: String) {
    hosts.withLock { hosts in
      hosts[host]?.operations -= 1
      hosts.removeIfIdle(host)
    }
  }

  /// Does `work` when the host may be asked: now, or at the end of its pause.
  func whenOpen(host: String, _ work: @escaping Work) {
    let isOpen = hosts.withLock { hosts in
      guard hosts[host]?.pace.closedUntil != nil else { return true }
      hosts[host]?.held.append(work)
      return false
    }
    if isOpen { work() }
  }

  /// The host answered one of its operations. Refusals, when repeated, or where the server says for how long, pause
  /// the host.
  func didAnswer(host: String, isRefusal: Bool, retryAfter: Duration?) {
    let now = now()
    let end = hosts.withLock { hosts -> Duration? in
      guard isRefusal else {
        hosts[host]?.pace.accept()
        return nil
      }
      let end = hosts[host]?.pace.refuse(retryAfter: retryAfter, policy: retry, now: now)
      // Inside the lock: a pause and its end must arrive in their order.
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
    if let entry = self[host], entry.operations == 0, entry.pace.closedUntil == nil { self[host] = nil }
  }
}
