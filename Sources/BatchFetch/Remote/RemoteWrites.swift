internal import ImageCache

/// The objects of one source to upload.
struct RemoteWrite: Sendable {
  let key: SourceKey
  /// The source whose object is written last, so that whoever finds it finds its thumbnails; nil for thumbnails only.
  let source: StoredSource?
  let digest: BodyDigest?
  let thumbnails: [Thumbnail]
  /// The thumbnails whose objects are known to be unusable, and are replaced.
  let unusable: Set<ThumbnailSpec>

  /// The bytes that it keeps in memory.
  var cost: Int { thumbnails.reduce(1024) { $0 + $1.bytes.count } }

  /// Returns the objects, in the order in which they are written. One that is too large is left out.
  func objects(_ codec: RemoteObjectCodec) -> [RemoteObject] {
    var objects: [RemoteObject] = []
    for thumbnail in thumbnails {
      guard let digest, let bytes = codec.object(of: thumbnail, from: digest) else { continue }
      let condition: RemoteObject.Condition = unusable.contains(thumbnail.spec) ? .always : .absent
      objects.append(
        RemoteObject(name: codec.name(of: thumbnail.spec, from: digest), bytes: bytes, condition: condition))
    }
    guard let source, let bytes = codec.object(of: source, key: key) else { return objects }
    return objects + [RemoteObject(name: codec.name(of: key), bytes: bytes, condition: .always)]
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
  /// The number of uploads that have ended.
  private(set) var endedCount = 0

  /// - Parameters:
  ///   - limit: The maximum number of bytes that wait or run.
  ///   - width: The maximum number of uploads that run.
  init(limit: Int, width: Int) {
    (self.limit, self.width) = (max(0, limit), width)
  }

  /// Adds an upload. Returns false if there is no room for it.
  mutating func add(_ write: RemoteWrite) -> Bool {
    guard bytes + write.cost <= limit else { return false }
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
    endedCount += 1
    bytes -= write.cost
  }

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
