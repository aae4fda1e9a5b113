import Foundation

/// The disk tier: staged writes in front of a shared database. Whatever fails is counted, and looks like a miss.
final class DiskCache: Sendable {
  /// Seconds that must have passed before a hit is noted as a use again.
  static let useInterval = 3600

  private let reader: DiskReader
  private let writer: DiskWriter
  private let monitor: CacheMonitor
  private let largestThumbnail: Int
  private let largestOriginal: Int
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - byteLimit: What the database may hold; nil for what the directory says, or the standard limit.
  ///   - stagingLimit: What may wait for being written, in bytes.
  ///   - patience: How long the directory's lock is waited for.
  ///   - clock: The monotonic clock, by which writes rest after a failure.
  init(
    _ directory: CacheDirectory, byteLimit: Int?, originals: OriginalKeeping = .none, stagingLimit: Int = 32 << 20,
    patience: Duration = FileLock.patience, monitor: CacheMonitor,
    now: @escaping @Sendable () -> Date, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    let reader = DiskReader(directory)
    self.reader = reader
    writer = DiskWriter(
      DiskStore(directory, byteLimit: byteLimit, originals: originals, patience: patience), stagingLimit: stagingLimit,
      monitor: monitor, now: now, clock: clock,
      onOpening: { reader.invalidate() })
    self.monitor = monitor
    self.now = now
    let limit = byteLimit ?? ThumbnailCache.Configuration.standardDiskByteLimit
    largestThumbnail = limit / 8
    largestOriginal = min(originals.byteLimit(of: limit) / 8, stagingLimit / 4)
  }

  /// The entry of `key` with those of `specs` that are there; staged writes first, then the disk.
  func entry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let change = writer.change(for: key) else { return storedEntry(for: key, url: url, specs: specs) }
    guard let source = change.source, source.url == url else { return nil }
    let staged = CacheEntry.Content(source, change.thumbnails).narrowed(to: specs)
    let missing = specs.filter { staged.thumbnails[$0] == nil }
    guard !missing.isEmpty, !change.replacesAll,
      let stored = storedEntry(for: key, url: url, specs: missing), stored.source.sharesThumbnails(with: source)
    else { return CacheEntry(staged, origin: .memory) }
    let thumbnails = staged.thumbnails.merging(stored.thumbnails) { staged, _ in staged }
    return CacheEntry(source: source, thumbnails: thumbnails, origin: .disk)
  }

  /// Whether a write of `key` is on its way, so that what a look-up found before may be outdated.
  func isChanging(_ key: SourceKey) -> Bool { writer.change(for: key) != nil }

  /// Stores a source, thumbnails of it, and the file itself where it is small enough to be kept.
  func store(_ source: StoredSource, thumbnails: [Thumbnail], original: [UInt8], for key: SourceKey) {
    let fitting = thumbnails.filter { $0.bytes.count <= largestThumbnail }
    if fitting.count < thumbnails.count { monitor.count { $0.refused += thumbnails.count - fitting.count } }
    let bySpec = Dictionary(fitting.map { ($0.spec, $0) }) { $1 }
    let kept = original.count <= largestOriginal ? original : []
    writer.stage(Staging.Change(source: source, thumbnails: bySpec, original: kept), for: key)
  }

  /// The file that `source` was; empty when it is not there, or is another one by now.
  func original(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    guard case .picture(_, let digest, _) = source.content else { return [] }
    if let change = writer.change(for: key), !change.original.isEmpty || change.replacesAll || change.source == nil {
      return change.source.map(source.sharesThumbnails) == true ? change.original : []
    }
    do throws(DiskReader.ReadFailure) {
      let body = try reader.original(of: key)
      // The digest of a download is a better checksum than any other.
      return BodyDigest(of: body) == digest ? body : []
    } catch {
      note(error)
      return []
    }
  }

  /// Why this version of the renderer could not decode the bytes of `digest`; nil when the disk does not know.
  func imageError(of digest: BodyDigest) -> ImageError? {
    do throws(DiskReader.ReadFailure) {
      return try reader.imageError(of: digest)
    } catch {
      note(error)
      return nil
    }
  }

  /// Removes a source and its thumbnails.
  func remove(_ key: SourceKey) { writer.stage(Staging.Change(source: nil), for: key) }

  /// Returns when everything stored before is on disk, or has failed to get there.
  func flush() { writer.flush() }

  private func storedEntry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    do throws(DiskReader.ReadFailure) {
      switch try reader.find(key, url: url, specs: specs) {
      case .missing: return nil
      case .found(let source, let thumbnails, let lastUsed):
        // A time in the future, from a clock that was set back, counts as long ago.
        let isLongAgo = !(0..<Self.useInterval).contains(now().wholeSeconds - lastUsed)
        if isLongAgo { writer.noteUse(of: key) }
        return CacheEntry(source: source, thumbnails: thumbnails, origin: .disk)
      case .unusable:
        monitor.count { $0.unusable += 1 }
        remove(key)
        return nil
      }
    } catch {
      note(error)
      return nil
    }
  }

  private func note(_ failure: DiskReader.ReadFailure) {
    monitor.record(failure.error)
    if failure.error.code == .corrupt { writer.reportDamage(in: failure.generation) }
  }
}
