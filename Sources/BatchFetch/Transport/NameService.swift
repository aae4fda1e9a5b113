internal import Foundation
internal import Synchronization

/// Looks up the names of hosts, each once at a time, on threads of its own.
///
/// A look-up blocks its thread for as long as the system's name servers take: half a minute where they are dead. So it is
/// made neither on the event loop nor on a dispatch queue, whose few threads others need, and nobody waits for it longer
/// than they said.
final class NameService: Sendable {
  typealias Completion = @Sendable (HostResolution) -> Void

  private struct Caller {
    let limit: Duration
    let completion: Completion
  }

  /// Threads that may wait for name servers at once. More than there are transfers usually: those that nobody waits for
  /// any more are among them until the system gives up.
  private static let width = 256

  private let resolve: @Sendable (String) -> HostResolution
  private let lookUps: WorkQueue
  private let deadlines = DispatchQueue(label: "thumbs.names", target: .global())
  private let table = Mutex(NameTable<Caller>())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - resolve: asks the system; may block.
  ///   - now: the clock by which addresses expire.
  init(
    resolve: @escaping @Sendable (String) -> HostResolution,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.resolve = resolve
    self.now = now
    lookUps = WorkQueue(width: Self.width) { work in
      let thread = Thread(block: work)
      thread.name = "thumbs-names"
      thread.stackSize = 512 << 10
      thread.start()
    }
  }

  /// Callers who wait for a look-up.
  var waiterCount: Int { table.withLock { $0.waiterCount } }

  /// Calls `completion` exactly once: at once where the addresses are known, else on another thread; with
  /// ``HostResolution/temporary`` when the look-up has run for longer than `limit`.
  func resolve(_ host: String, within limit: Duration, _ completion: @escaping Completion) {
    let caller = Caller(limit: limit, completion: completion)
    switch table.withLock({ $0.ask(host, caller, now: now()) }) {
    case .known(let addresses): completion(.addresses(addresses))
    case .waits(_, .new): lookUps.async { [self] in lookUp(host) }
    case .waits(_, .queued): break
    case .waits(let ticket, .running): expire(ticket, after: limit)
    }
  }

  private func lookUp(_ host: String) {
    for (ticket, caller) in table.withLock({ $0.begin(host) }) { expire(ticket, after: caller.limit) }
    let resolution = resolve(host)
    for caller in table.withLock({ $0.settle(host, resolution, now: now()) }) { caller.completion(resolution) }
  }

  private func expire(_ ticket: NameTable<Caller>.Ticket, after limit: Duration) {
    deadlines.asyncAfter(deadline: .now() + .milliseconds(limit.milliseconds)) { [weak self] in
      self?.table.withLock { $0.leave(ticket) }?.completion(.temporary)
    }
  }
}
