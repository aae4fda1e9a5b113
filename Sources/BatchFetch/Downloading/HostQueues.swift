internal import Foundation
internal import Synchronization

/// One operation queue a host: its width is the limit of that host, and one host that is asked to wait does not hold
/// back another. A queue goes when its last operation left it.
final class HostQueues: Sendable {
  private struct Host {
    let queue: OperationQueue
    var operations = 0
    /// The pause that counts; an older one, ending, must not resume the queue.
    var pause: UInt64?
  }

  private struct State {
    var hosts: [String: Host] = [:]
    var lastPause: UInt64 = 0

    mutating func removeIfIdle(_ host: String) {
      if let entry = hosts[host], entry.operations == 0, entry.pause == nil { hosts[host] = nil }
    }
  }

  private let limit: Int
  private let cap: Duration
  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  init(limit: Int, cap: Duration, clock: any Clock<Duration>) {
    self.limit = limit
    self.cap = cap
    self.clock = clock
  }

  /// The number of hosts with operations, or with a pause.
  var count: Int { state.withLock { $0.hosts.count } }

  /// Enqueues an operation, which reports its end by ``didLeave(host:)``.
  func add(_ operation: DownloadOperation, host: String) {
    let queue = state.withLock { state in
      var entry = state.hosts[host] ?? Host(queue: makeQueue(host))
      entry.operations += 1
      state.hosts[host] = entry
      return entry.queue
    }
    queue.addOperation(operation)
  }

  /// An operation is finished and has left its queue.
  func didLeave(host: String) {
    state.withLock { state in
      state.hosts[host]?.operations -= 1
      state.removeIfIdle(host)
    }
  }

  /// Starts nothing new on `host` for this long, at most the cap.
  func pause(host: String, for duration: Duration) {
    let (pause, queue) = state.withLock { state in
      state.lastPause += 1
      state.hosts[host]?.pause = state.lastPause
      return (state.lastPause, state.hosts[host]?.queue)
    }
    queue?.isSuspended = true
    _ = clock.run(after: min(duration, cap)) { [weak self] in self?.resume(host: host, from: pause) }
  }

  private func resume(host: String, from pause: UInt64) {
    let queue = state.withLock { state -> OperationQueue? in
      guard let entry = state.hosts[host], entry.pause == pause else { return nil }
      state.hosts[host]?.pause = nil
      state.removeIfIdle(host)
      return entry.queue
    }
    queue?.isSuspended = false
  }

  private func makeQueue(_ host: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = "thumbs.host.\(host)"
    queue.maxConcurrentOperationCount = limit
    return queue
  }
}
