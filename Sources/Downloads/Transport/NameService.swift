internal import Foundation
internal import Synchronization

/// Resolves host names on its own threads, with at most one lookup per host at a time.
///
/// A lookup blocks its thread until the name servers respond: half a minute if they are dead. It therefore runs neither
/// on the event loop nor on a dispatch queue, whose few threads others need, and each caller waits only up to its own
/// limit.
final class NameService: Sendable {
  typealias Completion = @Sendable (HostResolution) -> Void

  private struct Caller {
    let limit: Duration
    let completion: Completion
  }

  /// The maximum number of lookup threads. It exceeds the usual number of transfers, because abandoned lookups keep
  /// their threads until the system gives up.
  private static let width = 256

  private let resolve: @Sendable (String) -> HostResolution
  private let lookUps: WorkQueue
  private let deadlines = DispatchQueue(label: "thumbs.names", target: .global())
  private let table = Mutex(NameTable<Caller>())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - resolve: resolves a host name; may block.
  ///   - now: the clock for the expiry of addresses.
  init(
    resolve: @escaping @Sendable (String) -> HostResolution,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.resolve = resolve
    self.now = now
    lookUps = WorkQueue(
      WorkThreads(count: Self.width) { work in
        let thread = Thread(block: work)
        thread.name = "thumbs-names"
        thread.stackSize = 512 << 10
        thread.start()
      })
  }

  /// The number of callers waiting for a lookup.
  var waiterCount: Int { table.withLock { $0.waiterCount } }

  /// Returns true if the addresses of `host` are known.
  func knows(_ host: String) -> Bool { table.withLock { $0.knows(host, now: now()) } }

  /// Calls `completion` exactly once: before this method returns if the result is known, otherwise on another
  /// thread. The result is ``HostResolution/temporary`` if the lookup runs for longer than `limit`.
  func resolve(_ host: String, within limit: Duration, _ completion: @escaping Completion) {
    let caller = Caller(limit: limit, completion: completion)
    switch table.withLock({ $0.resolve(host, caller, now: now()) }) {
    case .known(let resolution): completion(resolution)
    case .old(let resolution):
      lookUps.async { [self] in lookUp(host) }
      completion(resolution)
    case .waits(_, .new): lookUps.async { [self] in lookUp(host) }
    case .waits(_, .queued): break
    case .waits(let ticket, .running): expire(ticket, after: limit)
    }
  }

  private func lookUp(_ host: String) {
    for (ticket, caller) in table.withLock({ $0.begin(host) }) { expire(ticket, after: caller.limit) }
    let resolution = resolve(host)
    for caller in table.withLock({ $0.finish(host, resolution, now: now()) }) { caller.completion(resolution) }
  }

  private func expire(_ ticket: NameTable<Caller>.Ticket, after limit: Duration) {
    deadlines.asyncAfter(deadline: .now() + .milliseconds(limit.milliseconds)) { [weak self] in
      self?.table.withLock { $0.leave(ticket) }?.completion(.temporary)
    }
  }
}
