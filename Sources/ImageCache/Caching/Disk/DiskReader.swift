import GRDB
import Synchronization

/// Finds entries on disk. Never writes, never waits for a writer.
final class DiskReader: Sendable {
  /// What a look-up found.
  enum Finding {
    case missing
    /// A whole entry, with those of the thumbnails asked for that are there, and when it was last used.
    case found(StoredSource, [ThumbnailSpec: Thumbnail], lastUsed: Int)
    /// Something that does not pass its checksum, is of another URL, or an older renderer's failure.
    case unusable
  }

  private struct State {
    var generation: OpenGeneration?
    /// When `CURRENT` was last looked at; nil asks for a look.
    var checkedAt: ContinuousClock.Instant?
  }

  /// How long a generation that another process has replaced may still be read.
  private static let checkInterval: Duration = .seconds(1)

  private let directory: CacheDirectory
  private let state = Mutex(State())

  init(_ directory: CacheDirectory) { self.directory = directory }

  /// Looks at `CURRENT` again before the next look-up.
  func invalidate() { state.withLock { $0.checkedAt = nil } }

  /// The entry of `key` with those of `specs` that are there. May block for a read of the disk.
  func find(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) throws(ReadFailure) -> Finding {
    try read { try Self.find(key, url: url, specs: specs, in: $0) } ?? .missing
  }

  /// The file kept for `key`; empty when there is none. Not checked.
  func original(of key: SourceKey) throws(ReadFailure) -> [UInt8] {
    let body = try read { database -> [UInt8]? in
      var run = try StatementRun(
        """
        SELECT b.data FROM source s JOIN original o ON o.source_id = s.id JOIN blob b ON b.id = o.blob_id WHERE s.key = ?
        """, in: database)
      run.bind(key.bytes)
      guard var columns = try run.next() else { return nil }
      return columns.bytes()
    }
    return (body ?? nil) ?? []
  }

  /// Why this version of the renderer could not decode the bytes of `digest`; nil when that is not known.
  func imageError(of digest: BodyDigest) throws(ReadFailure) -> ImageError? {
    try read { database -> ImageError? in
      var run = try StatementRun(Self.undecodable, in: database)
      run.bind(digest.bytes)
      run.bind(Renderer.version)
      guard var columns = try run.next() else { return nil }
      let key = columns.bytes().flatMap { SourceKey(bytes: $0) }
      return key.flatMap { StoredSource.row(&columns, key: $0) }?.source.imageError(of: digest)
    } ?? nil
  }

  static let undecodable = """
    SELECT key, \(StoredSource.columns.joined(separator: ", ")) FROM source
    WHERE digest = ? AND failure_code IS NOT NULL AND renderer = ? LIMIT 1
    """

  /// Runs `body` in the current generation; nil while there is none.
  private func read<T>(_ body: (Database) throws -> T) throws(ReadFailure) -> T? {
    guard let generation = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try generation.read(body)
    } catch {
      guard error.code == .corrupt else { throw ReadFailure(error: error, generation: generation.number) }
    }
    // Damage that a new connection does not meet was a read that failed once.
    close(generation)
    guard let again = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try again.read(body)
    } catch {
      throw ReadFailure(error: error, generation: again.number)
    }
  }

  /// Lets the next look-up open the database anew, unless another one did already.
  private func close(_ generation: OpenGeneration) {
    state.withLock { state in
      guard state.generation === generation else { return }
      state = State()
    }
  }

  /// The failure of a look-up, and the generation it was met in.
  struct ReadFailure: Error {
    var error: DiskCacheError
    var generation: Int
  }

  /// The generation to read from; nil while there is none.
  ///
  /// Opened under the lock, so that a start with many threads opens once. A replaced generation closes when the last
  /// look-up in it ends.
  private func openGeneration() throws(ReadFailure) -> OpenGeneration? {
    let now = ContinuousClock.now
    return try state.withLock { (state) throws(ReadFailure) in
      if let checkedAt = state.checkedAt, now < checkedAt + Self.checkInterval { return state.generation }
      state.checkedAt = now
      guard let number = try currentGeneration(else: state.generation) else {
        state.generation = nil
        return nil
      }
      if let open = state.generation, open.number == number, open.isInPlace { return open }
      state.generation = nil
      do throws(DiskCacheError) {
        state.generation = try DiskDatabase.confirmingDamage { () throws(DiskCacheError) in
          try OpenGeneration(number, of: directory)
        }
      } catch {
        // Replaced and removed since it was read: the next look-up opens its successor.
        state.checkedAt = nil
        guard try currentGeneration(else: nil) == number else { return nil }
        state.checkedAt = now
        throw ReadFailure(error: error, generation: number)
      }
      return state.generation
    }
  }

  /// The number of the current generation, or that of `open` while it cannot be read: a generation is good as long as
  /// it is there.
  private func currentGeneration(else open: OpenGeneration?) throws(ReadFailure) -> Int? {
    do throws(DiskCacheError) {
      return try directory.currentGeneration()
    } catch {
      guard let open else { throw ReadFailure(error: error, generation: 0) }
      return open.number
    }
  }

  static func find(
    _ key: SourceKey, url: String, specs: [ThumbnailSpec], in database: Database
  ) throws -> Finding {
    let specs = Dictionary(specs.map { ($0.cacheHash, $0) }) { first, _ in first }
    // One statement: the source and its thumbnails are of the same moment.
    var run = try StatementRun(specs.count < selects.count ? selects[specs.count] : select(specs.count), in: database)
    for hash in specs.keys { run.bind(hash) }
    run.bind(key.bytes)
    var found: (source: StoredSource, lastUsed: Int)?
    var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
    while var columns = try run.next() {
      if found == nil {
        guard let lastUsed = columns.amount(), let row = StoredSource.row(&columns, key: key), !row.isOutdated,
          row.source.url == url
        else { return .unusable }
        found = (row.source, lastUsed)
      } else {
        columns.skip(1 + StoredSource.columns.count)
      }
      guard columns.integer() != nil else { continue }
      guard let thumbnail = Thumbnail(&columns, key: key, specs: specs) else { return .unusable }
      thumbnails[thumbnail.spec] = thumbnail
    }
    guard let found else { return .missing }
    return .found(found.source, thumbnails, lastUsed: found.lastUsed)
  }

  private static let selects = (0...8).map(select)

  /// The query for a source and `count` of its thumbnails.
  private static func select(_ count: Int) -> String {
    let source = (["last_used"] + StoredSource.columns).map { "s.\($0)" }
    let thumbnail = (["source_id"] + Thumbnail.columns).map { "t.\($0)" }
    let marks = Array(repeating: "?", count: count)
    return """
      SELECT \((source + thumbnail).joined(separator: ", ")), b.data FROM source s
      LEFT JOIN thumbnail t ON t.source_id = s.id AND t.spec_hash IN (\(marks.joined(separator: ", ")))
      LEFT JOIN blob b ON b.id = t.blob_id
      WHERE s.key = ?
      """
  }
}
