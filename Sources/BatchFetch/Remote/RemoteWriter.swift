internal import Foundation
internal import ImageCache
internal import Synchronization

/// Uploads objects to a remote cache in the background: a few sources at once, and of the others no more than a number
/// of bytes. What exceeds them is dropped and counted. The objects of one source are uploaded one after the other.
final class RemoteWriter: Sendable {
  /// The time after which a flush gives up if no upload succeeds.
  private static let patience = Duration.seconds(2)

  private let client: RemoteClient
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
  init(_ client: RemoteClient, _ codec: RemoteObjectCodec, _ monitor: RemoteMonitor, limit: Int) {
    (self.client, self.codec, self.monitor) = (client, codec, monitor)
    state = Mutex(RemoteWrites(limit: limit, width: RemoteClient.writeWidth))
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
      let upload = RemoteUpload(write, codec, to: client)
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

/// The objects of one source to upload.
struct RemoteWrite: Sendable {
  let key: SourceKey
  /// The source whose object is written last: a reader that finds it also finds its thumbnails. Nil to write thumbnails
  /// only.
  let source: StoredSource?
  let digest: BodyDigest?
  let thumbnails: [Thumbnail]
  /// The thumbnails whose objects are known to be unusable, and are replaced.
  let unusable: Set<ThumbnailSpec>

  /// The bytes that it takes in memory: the thumbnails, and for the largest one its object and the copy that is sent.
  var cost: Int {
    let sizes = thumbnails.map(\.bytes.count)
    return sizes.reduce(1024, +) + 2 * (sizes.max() ?? 0)
  }

  /// The number of objects.
  var count: Int { thumbnails.count + 1 }

  /// Returns an object. They are written in order, that of the source last; nil for one that is left out, such as a
  /// thumbnail that is too large.
  func object(at index: Int, _ codec: RemoteObjectCodec) -> RemoteObject? {
    guard index < thumbnails.count else {
      guard let source, let bytes = codec.object(of: source, key: key) else { return nil }
      return RemoteObject(name: codec.name(of: key), bytes: bytes, condition: .always)
    }
    let thumbnail = thumbnails[index]
    guard let digest, let bytes = codec.object(of: thumbnail, from: digest) else { return nil }
    let condition: RemoteObject.Condition = unusable.contains(thumbnail.spec) ? .always : .absent
    return RemoteObject(name: codec.name(of: thumbnail.spec, from: digest), bytes: bytes, condition: condition)
  }
}

/// The uploads that wait and those that run, bounded in bytes and in number. A plain value.
struct RemoteWrites: Sendable {
  private let limit: Int
  private let width: Int
  private var waiting = FIFO<RemoteWrite>()
  /// The bytes of all uploads that wait or run.
  private(set) var bytes = 0
  private(set) var runningCount = 0
  private(set) var isClosed = false

  /// - Parameters:
  ///   - limit: The maximum number of bytes that wait or run.
  ///   - width: The maximum number of uploads that run.
  init(limit: Int, width: Int) {
    (self.limit, self.width) = (max(0, limit), width)
  }

  /// Adds an upload. Returns false if there is no room for it, or after ``close()``.
  mutating func add(_ write: RemoteWrite) -> Bool {
    guard !isClosed, bytes + write.cost <= limit else { return false }
    bytes += write.cost
    waiting.append(write)
    return true
  }

  /// Returns the next upload to run; nil if none waits, or enough are running.
  mutating func next() -> RemoteWrite? {
    guard runningCount < width, let write = waiting.popFirst() else { return nil }
    runningCount += 1
    return write
  }

  /// Records the end of an upload that ran.
  mutating func ended(_ write: RemoteWrite) {
    runningCount -= 1
    bytes -= write.cost
  }

  /// Refuses uploads from now on.
  mutating func close() { isClosed = true }

  /// Removes the uploads that wait. Returns their number.
  mutating func removeWaiting() -> Int {
    var count = 0
    while let write = waiting.popFirst() {
      bytes -= write.cost
      count += 1
    }
    return count
  }
}

/// The upload of the objects of one source, one after the other. After a failure, the rest is left out: a source whose
/// thumbnails are missing is of no use.
private final class RemoteUpload: Sendable {
  private let write: RemoteWrite
  private let codec: RemoteObjectCodec
  private let client: RemoteClient
  private let slot = TaskHandleSlot()

  init(_ write: RemoteWrite, _ codec: RemoteObjectCodec, to client: RemoteClient) {
    (self.write, self.codec, self.client) = (write, codec, client)
  }

  /// Begins. `completion` is called exactly once, on any queue, with nil if all objects are on the server.
  func start(_ completion: @escaping @Sendable (RemoteProblem?) -> Void) { put(from: 0, completion) }

  func cancel() { slot.cancel() }

  /// Writes the object at `index` and those behind it. Only one exists at a time.
  private func put(from index: Int, _ completion: @escaping @Sendable (RemoteProblem?) -> Void) {
    guard index < write.count else { return completion(nil) }
    guard let object = write.object(at: index, codec) else { return put(from: index + 1, completion) }
    slot.run { _ in
      client.put(object) { [self] problem in
        slot.end()
        if let problem { completion(problem) } else { put(from: index + 1, completion) }
      }
    }
  }
}
