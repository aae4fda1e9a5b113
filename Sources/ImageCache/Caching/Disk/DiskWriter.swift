import Dispatch
import Foundation
import Synchronization

/// Brings staged writes to the disk, in batches, on a queue of its own.
///
/// A batch is written when it is full, or a tenth of a second after its first write. What is still staged when the
/// writer goes away is written then. After a failure nothing is written for a while, so that a full disk is not hammered;
/// what comes meanwhile stays staged.
final class DiskWriter: Sendable {
  private struct State {
    var store: DiskStore
    var backoff = WriteBackoff()
  }

  /// How long a write waits for company.
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
  ///   - now: The time of day, which says when something was used.
  ///   - clock: The monotonic clock, by which writes rest after a failure.
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

  /// Returns when everything staged before is on disk, or has failed to get there. What a busy lock held back stays
  /// staged, and is tried again.
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

  /// Writes what is staged, unless a write failed a moment ago. Then, and after a failure, it is tried again later.
  private func drainInTime() {
    if pauseLeft == nil { _ = drain() }
    if let pauseLeft, !staging.withLock({ $0.isEmpty }) { schedule(.after(pauseLeft)) }
  }

  private var pauseLeft: Duration? { state.withLock { $0.backoff.remainder(at: clock()) } }

  /// Tries to write what is staged, also after a failure a moment ago: somebody waits for it, and hears that it failed.
  private func drainAtOnce() {
    guard let error = drain() else { return }
    let lost = staging.withLock { $0.drop { !error.leaves($0) } }
    monitor.count { $0.dropped += lost }
  }

  /// Writes batch after batch until nothing is staged; stops at a failure, and returns it.
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

  private func write(_ batch: Staging.Batch) throws(DiskCacheError) -> DiskStore.Outcome {
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

  private func finish(_ batch: Staging.Batch, _ outcome: DiskStore.Outcome) {
    staging.withLock { $0.finishBatch() }
    monitor.count { counters in
      counters.written += batch.changes.count - outcome.refused
      counters.dropped += outcome.refused
      counters.evicted += outcome.evicted
    }
    if outcome.hasOpened { onOpening() }
  }
}

extension DiskCacheError {
  /// Whether `change` stays staged after this failure of a write: everything while the lock is busy, which passes. After
  /// a failure of the disk the removals: what must not be stored any more would stay otherwise, while a lost entry is
  /// only a miss.
  fileprivate func leaves(_ change: Staging.Change) -> Bool {
    switch code {
    case .busy: true
    case .io, .diskFull, .corrupt: change.source == nil
    case .noCache, .newerSchema, .networkFileSystem: false
    }
  }
}
