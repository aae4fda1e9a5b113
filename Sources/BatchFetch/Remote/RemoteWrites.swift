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
