internal import Foundation
internal import Synchronization

/// Limits the bytes that are in memory and not yet rendered. Above the limit, no transfer starts and no original is
/// read.
///
/// The bytes of one host count up to three quarters of the limit. Above that, no transfer of this host starts: bodies
/// that take long to render do not hold up the transfers of other hosts.
final class ByteBudget: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Waiting: Sendable {
    let bytes: Int
    let work: Work
  }

  fileprivate struct State {
    let limit: Int
    /// The bytes that are held, those of each host up to its share.
    var counted = 0
    /// The bytes of each host.
    var hosts: [String: Int] = [:]
    /// True between ``suspend()`` and ``resume()``.
    var isSuspended = false
    /// The work that waits for room.
    var waiting = PriorityQueue<Waiting>()

    /// True if no transfer may start and no original may be read.
    var isOver: Bool { isSuspended || counted > limit }

    /// The most bytes of a host that count, at least 1.
    var share: Int { max(1, limit - limit / 4) }

    /// Returns true if no transfer of a host may start.
    func isHeld(_ host: String) -> Bool { hosts[host, default: 0] > share }

    /// Changes the bytes of a host, or of none.
    mutating func add(_ bytes: Int, of host: String?) {
      guard let host else {
        counted += bytes
        return
      }
      let before = hosts[host, default: 0]
      counted += min(before + bytes, share) - min(before, share)
      hosts[host] = before + bytes == 0 ? nil : before + bytes
    }
  }

  private let state: Mutex<State>
  private let setSuspended: @Sendable (Bool) -> Void
  private let setHeld: @Sendable (_ host: String, Bool) -> Void
  /// Calls `setSuspended` in order, so that the latest state is applied last.
  private let queue = DispatchQueue(label: "thumbs.budget")

  /// - Parameters:
  ///   - limit: at least 0.
  ///   - setHeld: suspends and resumes the start of transfers of a host.
  ///   - setSuspended: suspends and resumes the start of transfers.
  init(
    limit: Int, setHeld: @escaping @Sendable (_ host: String, Bool) -> Void = { _, _ in },
    setSuspended: @escaping @Sendable (Bool) -> Void
  ) {
    state = Mutex(State(limit: max(0, limit)))
    (self.setHeld, self.setSuspended) = (setHeld, setSuspended)
  }

  // A pipeline that is released while it is suspended must not hold up the others that share its downloader.
  deinit {
    setSuspended(false)
    for host in state.withLock({ Array($0.hosts.keys) }) { setHeld(host, false) }
  }

  /// True between ``suspend()`` and ``resume()``.
  var isSuspended: Bool { state.withLock { $0.isSuspended } }

  /// The number of pieces of work that wait for room.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Adds bytes that are in memory and wait to be rendered. `host` is that of a transfer; nil for others.
  func hold(_ bytes: Int, of host: String? = nil) { _ = change(of: host) { $0.add(bytes, of: host) } }

  /// Adds the bytes of a file to be read, as soon as the total is within the limit, so that at most one file exceeds
  /// it. Until then the work waits, behind earlier work of the same or a higher priority. Returns a handle that can
  /// cancel the work and change its priority while it waits.
  ///
  /// - Parameters:
  ///   - bytes: the size of the file.
  ///   - priority: the order among the work that waits.
  ///   - work: called once, after the bytes have been added, unless it is canceled before: on this thread if there is
  ///     room now, otherwise on the thread that makes room. Must not block.
  @discardableResult
  func hold(_ bytes: Int, whenThereIsRoom priority: Priority, _ work: @escaping Work) -> WorkHandle {
    let (ticket, admitted) = change { state in state.waiting.append(Waiting(bytes: bytes, work: work), priority) }
    for work in admitted { work() }
    return WorkHandle { [self] in
      // Dropped here, outside the lock: what the work captured may run code when it is released.
      let removed = state.withLock { $0.waiting.remove(ticket) }
      _ = removed
    } setPriority: { [self] priority in
      state.withLock { $0.waiting.change(ticket, to: priority) }
    }
  }

  /// Subtracts bytes that have been rendered, for the same host.
  func release(_ bytes: Int, of host: String? = nil) {
    for work in change(of: host, { $0.add(-bytes, of: host) }).admitted { work() }
  }

  /// Acts as if there were no room, until ``resume()``.
  func suspend() { _ = change { $0.isSuspended = true } }

  /// Ends a suspension, if there is one.
  func resume() {
    for work in change({ $0.isSuspended = false }).admitted { work() }
  }

  /// Returns the result of `change`, and the work for which there is room now.
  private func change<Result: Sendable>(
    of host: String? = nil, _ change: (inout State) -> Result
  ) -> (result: Result, admitted: [Work]) {
    let (result, admitted, isCrossed, isHostCrossed) = state.withLock { state in
      let (wasOver, wasHeld) = (state.isOver, host.map(state.isHeld))
      let result = change(&state)
      let admitted = state.admit()
      return (result, admitted, wasOver != state.isOver, wasHeld != host.map(state.isHeld))
    }
    if isCrossed { queue.async { [self] in setSuspended(state.withLock { $0.isOver }) } }
    if isHostCrossed, let host { queue.async { [self] in setHeld(host, state.withLock { $0.isHeld(host) }) } }
    return (result, admitted)
  }
}

extension ByteBudget.State {
  fileprivate mutating func admit() -> [ByteBudget.Work] {
    var admitted: [ByteBudget.Work] = []
    while !isOver, let next = waiting.popFirst() {
      counted += next.bytes
      admitted.append(next.work)
    }
    return admitted
  }
}
