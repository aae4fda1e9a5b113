internal import ImageCache

/// The upload of the objects of one source, one after the other. After a failure, the rest is left out: a source whose
/// thumbnails are missing is of no use.
final class RemoteUpload: Sendable {
  private let write: RemoteWrite
  private let codec: RemoteObjectCodec
  private let store: RemoteStore
  private let slot = TokenSlot()

  init(_ write: RemoteWrite, _ codec: RemoteObjectCodec, to store: RemoteStore) {
    (self.write, self.codec, self.store) = (write, codec, store)
  }

  /// Begins. `completion` is called exactly once, on any queue, with nil if all objects are on the server.
  func start(_ completion: @escaping @Sendable (RemoteProblem?) -> Void) { put(from: 0, completion) }

  func cancel() { slot.cancel() }

  /// Writes the object at `index` and those behind it. Only one exists at a time.
  private func put(from index: Int, _ completion: @escaping @Sendable (RemoteProblem?) -> Void) {
    guard index < write.count else { return completion(nil) }
    guard let object = write.object(at: index, codec) else { return put(from: index + 1, completion) }
    slot.run { _ in
      store.put(object) { [self] problem in
        slot.end()
        if let problem { completion(problem) } else { put(from: index + 1, completion) }
      }
    }
  }
}
