internal import Foundation
internal import ImageCache
internal import Synchronization

/// Uploads objects to a remote cache in the background: a few sources at once, and of the others no more than a number
/// of bytes. What exceeds them is dropped and counted. The objects of one source are uploaded one after the other.
final class RemoteWriter: Sendable {
  /// The time after which a flush gives up if no upload succeeds.
  private static let patience = Duration.seconds(2)

  private let store: RemoteStore
  private let codec: RemoteObjectCodec
  private let monitor: RemoteMonitor
  private let state: Mutex<RemoteWrites>
  private let running = Mutex<[ObjectIdentifier: RemoteUpload]>([:])
  /// The last time that an upload succeeded, or was added while there was no other.
  private let progress = Mutex(ContinuousClock.now)
  /// Entered for each upload until it has ended.
  private let group = DispatchGroup()
  /// Makes the first object of each upload: that takes a digest, for which nothing should wait.
  private let queue = DispatchQueue(label: "thumbs.remote.uploads", attributes: .concurrent)

  /// - Parameter limit: The maximum number of bytes that wait.
  init(_ store: RemoteStore, _ codec: RemoteObjectCodec, _ monitor: RemoteMonitor, limit: Int) {
    (self.store, self.codec, self.monitor) = (store, codec, monitor)
    state = Mutex(RemoteWrites(limit: limit, width: RemoteStore.writeWidth))
  }

  /// Uploads the objects of a source, unless too many wait.
  func add(_ write: RemoteWrite) {
    group.enter()
    let (wasIdle, isAdded) = state.withLock { ($0.bytes == 0, $0.add(write)) }
    guard isAdded else {
      group.leave()
      return monitor.count(.dropped)
    }
    if wasIdle { progress.withLock { $0 = .now } }
    advance()
  }

  /// Blocks until everything is uploaded, or has failed. Gives up after `limit`, and as soon as no upload has succeeded
  /// for two seconds, which may be over already. What is left then is dropped.
  func flush(within limit: Duration) {
    let end = ContinuousClock.now + limit
    var deadline: ContinuousClock.Instant
    repeat {
      deadline = self.deadline(before: end)
      if isFinished(before: deadline) { return }
    } while self.deadline(before: end) > deadline
    dropAll()
  }

  /// Drops all uploads, those that come later included.
  func close() {
    state.withLock { $0.close() }
    dropAll()
  }

  private func deadline(before end: ContinuousClock.Instant) -> ContinuousClock.Instant {
    min(end, progress.withLock { $0 } + Self.patience)
  }

  private func isFinished(before end: ContinuousClock.Instant) -> Bool {
    group.wait(timeout: .now() + max(0, ContinuousClock.now.duration(to: end) / .seconds(1))) == .success
  }

  private func dropAll() {
    let dropped = state.withLock { $0.removeWaiting() }
    if dropped > 0 { monitor.count(.dropped, dropped) }
    for _ in 0..<dropped { group.leave() }
    for upload in running.withLock({ Array($0.values) }) { upload.cancel() }
    // The transport ends a canceled transfer at once.
    _ = isFinished(before: .now + .seconds(1))
  }

  private func advance() {
    while let (upload, write) = next() {
      queue.async { [self] in begin(upload, write) }
    }
  }

  /// Takes the next write and returns its upload, which may begin; nil if no write waits or too many uploads run.
  private func next() -> (RemoteUpload, RemoteWrite)? {
    // One step: thread A takes a write here while thread B drops everything. B finds the write among those that wait,
    // or its upload among those that run.
    running.withLock { running in
      guard let write = state.withLock({ $0.next() }) else { return nil }
      let upload = RemoteUpload(write, codec, to: store)
      running[ObjectIdentifier(upload)] = upload
      return (upload, write)
    }
  }

  private func begin(_ upload: RemoteUpload, _ write: RemoteWrite) {
    upload.start { [self] problem in
      running.withLock { $0[ObjectIdentifier(upload)] = nil }
      state.withLock { $0.ended(write) }
      if problem == nil { progress.withLock { $0 = .now } }
      count(problem)
      advance()
      group.leave()
    }
  }

  private func count(_ problem: RemoteProblem?) {
    switch problem {
    case nil: monitor.count(.stored)
    case .skipped, .cancelled: monitor.count(.dropped)
    case let problem?: monitor.count(.failed, because: problem)
    }
  }
}
