import Dispatch
import Foundation
import GRDB
import Synchronization

/// Writes staged changes to disk in batches, on its own queue.
///
/// A batch is written when it is full or 100 ms after its first change, and on deinitialization. After a failure the
/// writer pauses, so that it does not hammer a full disk; new changes stay staged until then.
final class DiskWriter: Sendable {
  private struct State {
    var store: DiskStore
    var backoff = WriteBackoff()
  }

  /// The time a change waits for others to join its batch.
  private static let flushInterval: Duration = .milliseconds(100)

  private let staging: Mutex<Staging>
  private let isScheduled = Atomic<Bool>(false)
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "thumbs.cache.writer", qos: .utility)
  private let monitor: CacheMonitor
  private let now: @Sendable () -> Date
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let onOpening: @Sendable () -> Void

  /// - Parameters:
  ///   - now: Returns the time of day, which is recorded as an entry's last use.
  ///   - clock: The monotonic clock that times the pauses after failed writes.
  init(
    _ store: DiskStore, stagingLimit: Int, monitor: CacheMonitor, now: @escaping @Sendable () -> Date,
    clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    onOpening: @escaping @Sendable () -> Void
  ) {
    staging = Mutex(Staging(byteLimit: stagingLimit))
    state = Mutex(State(store: store))
    self.monitor = monitor
    self.now = now
    self.clock = clock
    self.onOpening = onOpening
  }

  deinit {
    drainAtOnce()
    state.withLock { $0.store.close() }
  }

  /// Returns the pending change of `key`; nil if there is none.
  func change(for key: SourceKey) -> Staging.Change? { staging.withLock { $0.change(for: key) } }

  /// Returns the pending changes of `keys`, in the same order.
  func changes(for keys: [SourceKey]) -> [Staging.Change?] {
    staging.withLock { staging in keys.map { staging.change(for: $0) } }
  }

  /// Stages a change. If too much is waiting already, the change is dropped and counted.
  func stage(_ change: Staging.Change, for key: SourceKey) {
    let (isStaged, isFull) = staging.withLock { ($0.stage(change, for: key), $0.isBatchFull) }
    if !isStaged { monitor.count { $0.dropped += 1 } }
    schedule(isFull ? .now : .afterInterval)
  }

  /// Records uses of slots, to be written with the next batch. Hits alone cause a write only if there are many.
  func noteUses(of slots: [SlotUse]) {
    let isFull = staging.withLock { staging in
      staging.noteUses(of: slots)
      return staging.isBatchFull
    }
    if isFull { schedule(.now) }
  }

  /// Records that a reader found generation `number` damaged.
  func reportDamage(in number: Int) {
    // Asynchronous, because a batch may hold `state` for as long as another process holds the lock.
    queue.async { [weak self] in self?.state.withLock { $0.store.reportDamage(in: number) } }
  }

  /// Blocks until everything staged so far is on disk or has failed to be written. Changes held back by a busy lock
  /// stay staged and are tried again.
  func flush() { queue.sync { drainAtOnce() } }

  private enum Moment {
    case now, afterInterval
    case after(Duration)
  }

  private func schedule(_ moment: Moment) {
    switch moment {
    case .now: queue.async { [weak self] in self?.drainInTime() }
    case .afterInterval: schedule(.after(Self.flushInterval))
    case .after(let delay):
      guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
      queue.asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in
        self?.isScheduled.store(false, ordering: .releasing)
        self?.drainInTime()
      }
    }
  }

  /// Writes what is staged unless the writer pauses after a failure. Schedules another try if something is left.
  private func drainInTime() {
    if pauseLeft == nil { _ = drain() }
    if let pauseLeft, !staging.withLock({ $0.isEmpty }) { schedule(.after(pauseLeft)) }
  }

  private var pauseLeft: Duration? { state.withLock { $0.backoff.remainder(at: clock()) } }

  /// Writes what is staged, even during a pause after a failure, because a caller waits for the result.
  private func drainAtOnce() {
    guard let error = drain() else { return }
    let lost = staging.withLock { $0.drop { !error.leaves($0) } }
    monitor.count { $0.dropped += lost }
  }

  /// Writes batches until nothing is staged. Stops at the first failure and returns it.
  private func drain() -> DiskCacheError? {
    while let batch = staging.withLock({ $0.takeBatch() }) {
      do throws(DiskCacheError) {
        finish(batch, try write(batch))
      } catch {
        let lost = staging.withLock { $0.putBack(batch, where: error.leaves) }
        monitor.record(error)
        monitor.count { $0.dropped += lost }
        return error
      }
    }
    return nil
  }

  private func write(_ batch: Staging.ChangeSet) throws(DiskCacheError) -> DiskStore.WriteSummary {
    let time = now().wholeSeconds
    return try state.withLock { (state) throws(DiskCacheError) in
      do throws(DiskCacheError) {
        let outcome = try state.store.write(batch, now: time)
        state.backoff.noteSuccess()
        return outcome
      } catch {
        state.backoff.noteFailure(at: clock())
        throw error
      }
    }
  }

  private func finish(_ batch: Staging.ChangeSet, _ outcome: DiskStore.WriteSummary) {
    staging.withLock { $0.finishBatch() }
    monitor.count { counters in
      counters.written += batch.changes.count - outcome.refused - outcome.declined
      counters.dropped += outcome.refused
      counters.refused += outcome.oversized
      counters.evicted += outcome.eviction.sources
      counters.declined += outcome.declined
      counters.lost += outcome.lost
    }
    if outcome.hasOpened { onOpening() }
  }
}

extension DiskCacheError {
  /// Returns true if `change` stays staged after this failure of a write. While the lock is busy, everything stays.
  /// After a failure of the disk, removals stay: an entry that must not exist would otherwise survive, while a lost
  /// entry is only a miss.
  fileprivate func leaves(_ change: Staging.Change) -> Bool {
    switch code {
    case .busy: true
    case .io, .diskFull, .corrupt: change.removes
    case .noCache, .newerSchema, .networkFileSystem: false
    }
  }
}

/// The pauses after failed writes: 0.1 s, 1 s, then 10 s until a write succeeds. A plain value.
struct WriteBackoff {
  private static let pauses: [Duration] = [.milliseconds(100), .seconds(1), .seconds(10)]

  private var failures = 0
  private var end: ContinuousClock.Instant?

  /// Returns the rest of the pause at `now`; nil if a write may be tried.
  func remainder(at now: ContinuousClock.Instant) -> Duration? {
    end.flatMap { now < $0 ? now.duration(to: $0) : nil }
  }

  /// Records a failed write at `now`.
  mutating func noteFailure(at now: ContinuousClock.Instant) {
    end = now + Self.pauses[min(failures, Self.pauses.count - 1)]
    failures += 1
  }

  /// Records a successful write.
  mutating func noteSuccess() { self = WriteBackoff() }
}
