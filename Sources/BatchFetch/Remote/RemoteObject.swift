internal import ImageCache

/// The thumbnails of one source that are looked for in a remote cache.
struct RemoteQuery: Sendable {
  /// The part of them that the local cache has.
  enum Local: Sendable {
    /// Nothing that is fresh. A stale image may still have the right thumbnails.
    case nothingFresh(CachedImage?)
    /// A fresh source that lacks thumbnails.
    case fresh(StoredSource)
  }

  let key: SourceKey
  let url: String
  let specs: [ThumbnailSpec]
  let local: Local
}

/// The objects of one source that a remote cache has.
struct RemoteFinding: Sendable {
  /// The source; nil if there is none, or none that is usable.
  var source: StoredSource?
  /// The thumbnails of the source, including those that the local cache has.
  var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
  /// The thumbnails whose objects are unusable.
  var unusable: Set<ThumbnailSpec> = []
  /// The first problem; nil if there was none.
  var problem: RemoteProblem?
}

/// An object to upload.
struct RemoteObject: Sendable {
  /// The condition under which the server stores an object.
  enum Condition: Sendable {
    /// There is no object of that name yet.
    case absent
    /// None: an existing object is replaced.
    case always
  }

  let name: String
  let bytes: [UInt8]
  let condition: Condition
}

/// The result of reading one object.
enum RemoteResult<Value: Sendable>: Sendable {
  case found(Value)
  /// The server has no such object.
  case missing
  case failed(RemoteProblem)
}

/// The reason why an object was neither read nor written.
enum RemoteProblem: Error, Hashable, Sendable {
  /// The server did not respond in time. The text is a sentence for people.
  case timeout(String)
  /// Any other failure of the exchange. The text is a sentence for people.
  case error(String)
  /// The object failed a check.
  case unusable
  /// Earlier requests failed, so this one was not sent.
  case skipped
  /// The request was canceled.
  case cancelled

  init(_ failure: FetchFailure) {
    switch failure.code {
    case .cancelled: self = .cancelled
    case .timeoutConnect, .timeoutFirstByte, .timeoutTotal, .stalled, .dnsTemporary: self = .timeout(failure.message)
    // The code of ``FetchFailure/remoteCacheSkipped``.
    case .hostUnavailable: self = .skipped
    default: self = .error(failure.message)
    }
  }
}
