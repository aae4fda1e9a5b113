import Dispatch
import Foundation
import Synchronization

/// Brings staged writes to the disk, in batches, on a queue of its own.
///
/// A batch is written when it is full, or a tenth of a second after its first write. What is still staged when the
/// writer goes away is written then.
final class DiskWriter: Sendable {
  private struct State {
    var store: DiskStore
    /// After a failure nothing is tried until then, so that a full disk is not hammered.
    var pausedUntil = Date.distantPast
  }

  /// How long a write waits for company.
  private static let flushInterval: DispatchTimeInterval = .milliseconds(100)
  /// Seconds without writes after one failed.
  private static let pause: TimeInterval = 10

  private let staging: Mutex<Staging>
  private let isScheduled = Atomic<Bool>(false)
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "thumbs.cache.writer", qos: .utility)
  private let monitor: CacheMonitor
  private let now: @Sendable () -> Date
  private let onOpening: @Sendable () -> Void

  init(
    _ store: DiskStore, stagingLimit: Int, monitor: CacheMonitor, now: @escaping @Sendable () -> Date,
    onOpening: @escaping @Sendable () -> Void
  ) {
    staging = Mutex(Staging(byteLimit: stagingLimit))
    state = Mutex(State(store: store))
    self.monitor = monitor
    self.now = now
    self.onOpening = onOpening
  }

  deinit {
    drain()
    state.withLock { $0.store.close() }
  }

  /// What is to become of `key`; nil when nothing is on its way.
  func change(for key: SourceKey) -> Staging.Change? { staging.withLock { $0.change(for: key) } }

  /// Takes a change, which is lost and counted when too much waits already.
  func stage(_ change: Staging.Change, for key: SourceKey) {
    let (isStaged, isFull) = staging.withLock { ($0.stage(change, for: key), $0.isBatchFull) }
    if !isStaged { monitor.count { $0.dropped += 1 } }
    schedule(isFull ? .now : .afterInterval)
  }

  /// Notes that an entry was used. Written with the next batch: hits alone cause no write, unless there are many.
  func noteUse(of key: SourceKey) {
    let isFull = staging.withLock { staging in
      staging.noteUse(of: key)
      return staging.isBatchFull
    }
    if isFull { schedule(.now) }
  }

  /// Notes that a reader found generation `number` damaged.
  func reportDamage(in number: Int) {
    // Not under the caller's feet: a batch may hold the state for as long as another process holds the lock.
    queue.async { [weak self] in self?.state.withLock { $0.store.reportDamage(in: number) } }
  }

  /// Returns when everything staged before is on disk, or has failed to get there.
  func flush() { queue.sync { drain() } }

  private enum Moment { case now, afterInterval }

  private func schedule(_ moment: Moment) {
    switch moment {
    case .now: queue.async { [weak self] in self?.drain() }
    case .afterInterval:
      guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
      queue.asyncAfter(deadline: .now() + Self.flushInterval) { [weak self] in
        self?.isScheduled.store(false, ordering: .releasing)
        self?.drain()
      }
    }
  }

  private func drain() {
    while let batch = staging.withLock({ $0.takeBatch() }) {
      write(batch)
      staging.withLock { $0.finishBatch() }
    }
  }

  private func write(_ batch: Staging.Batch) {
    let time = now()
    let result = state.withLock { state -> Result<DiskStore.Outcome, DiskCacheError>? in
      guard time >= state.pausedUntil else { return nil }
      let result = Result { () throws(DiskCacheError) in try state.store.write(batch, now: time.wholeSeconds) }
      if case .failure = result { state.pausedUntil = time + Self.pause }
      return result
    }
    switch result {
    case .success(let outcome):
      monitor.count { counters in
        counters.written += batch.changes.count
        counters.evicted += outcome.evicted
      }
      if outcome.hasOpened { onOpening() }
    case .failure(let error):
      monitor.record(error)
      monitor.count { $0.dropped += batch.changes.count }
    case nil:
      monitor.count { $0.dropped += batch.changes.count }
    }
  }
}
