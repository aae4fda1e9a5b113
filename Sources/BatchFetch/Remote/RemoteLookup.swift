internal import ImageCache
internal import Synchronization

/// One lookup in a remote cache: first the source, then the thumbnails that the local cache lacks, all at once.
final class RemoteLookup: Sendable {
  private struct State {
    var finding = RemoteFinding()
    var pending = 0
  }

  private let query: RemoteQuery
  private let client: RemoteClient
  private let codec: RemoteObjectCodec
  private let sharing: RemoteSharing
  private let completion: @Sendable (RemoteFinding) -> Void
  private let slot: TaskHandleSlot
  private let state = Mutex(State())

  /// - Parameter completion: Called exactly once, on any queue, after ``start()``. May block.
  init(
    _ query: RemoteQuery, in client: RemoteClient, _ codec: RemoteObjectCodec, _ sharing: RemoteSharing,
    priority: Priority, completion: @escaping @Sendable (RemoteFinding) -> Void
  ) {
    (self.query, self.client, self.codec, self.completion) = (query, client, codec, completion)
    self.sharing = sharing
    slot = TaskHandleSlot(priority: priority)
  }

  /// Begins. Returns a handle that can cancel the lookup and change its priority.
  func start() -> WorkHandle {
    switch query.local {
    case .fresh(let source): found(source)
    case .nothingFresh: getSource()
    }
    return WorkHandle { [self] in
      slot.cancel()
    } setPriority: { [self] in
      slot.setPriority($0)
    }
  }

  private func getSource() {
    slot.run { demand in
      client.get(
        codec.name(of: query.key), maxBytes: RemoteObjectCodec.maxSourceBytes, demand.priority
      ) { [codec, query, sharing] in
        codec.source(in: $0, key: query.key, url: query.url)
          .flatMap { sharing.allows(finalURL: $0.finalURL) ? $0 : nil }
      } completion: { [self] result in
        slot.end()
        switch result {
        case .found(let source): found(source)
        case .missing: completion(RemoteFinding())
        case .failed(let problem):
          // The same writer may have spoiled the thumbnails.
          let unusable = problem == .unusable ? Set(query.specs) : []
          completion(RemoteFinding(unusable: unusable, problem: problem))
        }
      }
    }
  }

  /// Goes on with the thumbnails of `source`.
  private func found(_ source: StoredSource) {
    var finding = RemoteFinding(source: source)
    guard case .image(_, let digest, _) = source.content else { return completion(finding) }
    if case .nothingFresh(let image?) = query.local, image.source.digest == digest {
      finding.thumbnails = image.thumbnails
    }
    let wanted = query.specs.filter { finding.thumbnails[$0] == nil }
    guard !wanted.isEmpty else { return completion(finding) }
    state.withLock { $0 = State(finding: finding, pending: wanted.count) }
    slot.run { demand in
      WorkHandle(all: wanted.map { get($0, from: digest, demand.priority) })
    }
  }

  private func get(_ spec: ThumbnailSpec, from digest: BodyDigest, _ priority: Priority) -> WorkHandle {
    client.get(
      codec.name(of: spec, from: digest), maxBytes: RemoteObjectCodec.maxThumbnailBytes, priority
    ) { [codec] in
      codec.thumbnail(in: $0, spec, from: digest)
    } completion: { [self] result in
      let finding = state.withLock { state -> RemoteFinding? in
        state.finding.add(result, spec)
        state.pending -= 1
        return state.pending == 0 ? state.finding : nil
      }
      guard let finding else { return }
      slot.end()
      completion(finding)
    }
  }
}

extension RemoteFinding {
  /// Adds the result of reading one thumbnail.
  fileprivate mutating func add(_ result: RemoteResult<Thumbnail>, _ spec: ThumbnailSpec) {
    switch result {
    case .found(let thumbnail): thumbnails[spec] = thumbnail
    case .missing: break
    case .failed(let problem):
      if problem == .unusable { unusable.insert(spec) }
      self.problem = self.problem ?? problem
    }
  }

  /// Returns the event to count for a lookup of `specs`.
  func event(of specs: [ThumbnailSpec]) -> RemoteMonitor.Event {
    let isWhole = source.map { !$0.isImage || specs.allSatisfy { thumbnails[$0] != nil } } ?? false
    return isWhole ? .hit : problem?.lookupEvent ?? .miss
  }
}

extension WorkHandle {
  /// The handle of several pieces of work at once.
  fileprivate init(all handles: [WorkHandle]) {
    self.init {
      for handle in handles { handle.cancel() }
    } setPriority: { priority in
      for handle in handles { handle.setPriority(priority) }
    }
  }
}
