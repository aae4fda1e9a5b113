internal import Foundation
internal import ImageCache
internal import Synchronization

/// Uploads objects to a remote cache in the background: a few sources at once, and of the others no more than a number
/// of bytes. What exceeds them is dropped and counted.
final class RemoteWriter: Sendable {
  /// The maximum number of sources that are uploaded at once. Their thumbnails come one after the other.
  private static let width = 4
  /// The time after which a flush gives up if no upload ends.
  private static let patience = Duration.seconds(2)

  private let store: RemoteStore
  private let codec: RemoteObjectCodec
  private let monitor: RemoteMonitor
  private let state: Mutex<RemoteWrites>
  private let running = Mutex<[ObjectIdentifier: RemoteUpload]>([:])
  /// Entered for each upload until it has ended.
  private let group = DispatchGroup()
  /// Makes the objects: that takes a digest of each, for which nothing should wait.
  private let queue = DispatchQueue(label: "thumbs.remote.uploads", attributes: .concurrent)

  /// - Parameter limit: The maximum number of bytes that wait.
  init(_ store: RemoteStore, _ codec: RemoteObjectCodec, _ monitor: RemoteMonitor, limit: Int) {
    (self.store, self.codec, self.monitor) = (store, codec, monitor)
    state = Mutex(RemoteWrites(limit: limit, width: Self.width))
  }

  /// Uploads the objects of a source, unless too many wait.
  func add(_ write: RemoteWrite) {
    group.enter()
    guard state.withLock({ $0.add(write) }) else {
      group.leave()
      return monitor.count(.dropped)
    }
    advance()
  }

  /// Blocks until everything is uploaded, or has failed. Gives up after `limit`, and after two seconds in which no
  /// upload has ended. What is left then is dropped.
  func flush(within limit: Duration) {
    let end = ContinuousClock.now + limit
    var count = state.withLock { $0.endedCount }
    while !isFinished(within: min(Self.patience, ContinuousClock.now.duration(to: end))) {
      let last = state.withLock { $0.endedCount }
      guard last != count, ContinuousClock.now < end else { return giveUp() }
      count = last
    }
  }

  private func isFinished(within time: Duration) -> Bool {
    group.wait(timeout: .now() + max(0, time / .seconds(1))) == .success
  }

  private func giveUp() {
    let dropped = state.withLock { $0.removeWaiting() }
    if dropped > 0 { monitor.count(.dropped, dropped) }
    for _ in 0..<dropped { group.leave() }
    for upload in running.withLock({ Array($0.values) }) { upload.cancel() }
    // The transport ends a canceled transfer at once.
    _ = isFinished(within: .seconds(1))
  }

  private func advance() {
    while let write = state.withLock({ $0.next() }) {
      queue.async { [self] in begin(write) }
    }
  }

  private func begin(_ write: RemoteWrite) {
    let upload = RemoteUpload(write.objects(codec), to: store)
    running.withLock { $0[ObjectIdentifier(upload)] = upload }
    upload.start { [self] problem in
      running.withLock { $0[ObjectIdentifier(upload)] = nil }
      state.withLock { $0.ended(write) }
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

/// The upload of the objects of one source, one after the other. After a failure, the rest is left out: a source whose
/// thumbnails are missing is of no use.
final class RemoteUpload: Sendable {
  private let store: RemoteStore
  private let objects: [RemoteObject]
  private let slot = TokenSlot()

  init(_ objects: [RemoteObject], to store: RemoteStore) {
    (self.objects, self.store) = (objects, store)
  }

  /// Begins. `completion` is called exactly once, on any queue, with nil if all objects are on the server.
  func start(_ completion: @escaping @Sendable (RemoteProblem?) -> Void) { put(objects[...], completion) }

  func cancel() { slot.cancel() }

  private func put(_ rest: ArraySlice<RemoteObject>, _ completion: @escaping @Sendable (RemoteProblem?) -> Void) {
    guard let object = rest.first else { return completion(nil) }
    slot.run { _ in
      store.put(object) { [self] problem in
        slot.end()
        if let problem { completion(problem) } else { put(rest.dropFirst(), completion) }
      }
    }
  }
}
