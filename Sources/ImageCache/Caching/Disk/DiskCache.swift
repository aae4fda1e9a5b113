import Foundation

/// The disk tier: staged writes in front of a shared database. Every failure is counted and treated as a miss.
final class DiskCache: Sendable {
  /// The seconds between two recorded uses of an entry.
  static let useInterval = 3600

  private let reader: DiskReader
  private let writer: DiskWriter
  private let monitor: CacheMonitor
  private let largestThumbnail: Int
  private let largestOriginal: Int
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - byteLimit: The most bytes the database may hold; nil for the stored limit, or else the default.
  ///   - stagingLimit: The most bytes that may wait to be written.
  ///   - patience: The longest wait for the directory's lock.
  ///   - clock: The monotonic clock that times the pauses after failed writes.
  init(
    _ directory: CacheDirectory, byteLimit: Int?, originals: OriginalPolicy = .none, stagingLimit: Int = 32 << 20,
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

  /// Returns the entries of `lookups` in the same order, each from staged writes first and then from disk.
  func entries(for lookups: [CacheLookup]) -> [CacheEntry?] {
    let changes = writer.changes(for: lookups.map(\.key))
    // Lookups without a staged change are made together.
    guard changes.contains(where: { $0 != nil }) else { return storedEntries(for: lookups) }
    var stored = storedEntries(for: zip(lookups, changes).filter { $1 == nil }.map(\.0)).makeIterator()
    return zip(lookups, changes).map { lookup, change in
      if let change { return entry(for: lookup, changedBy: change) }
      return stored.next() ?? nil
    }
  }

  /// Returns the entry as it will be when `change` has been written.
  private func entry(for lookup: CacheLookup, changedBy change: Staging.Change) -> CacheEntry? {
    guard let source = change.source, source.url == lookup.url else { return nil }
    if !change.replacesAll, !source.replacesImages, let stored = storedEntry(for: lookup),
      !source.replaces(stored.source)
    {
      return CacheEntry(stored.content.with(laterFailure: source), origin: .disk)
    }
    let staged = CacheEntry.Content(source, change.thumbnails).narrowed(to: lookup.specs)
    var rest = lookup
    rest.specs = lookup.specs.filter { staged.thumbnails[$0] == nil }
    guard !rest.specs.isEmpty, !change.replacesAll, let stored = storedEntry(for: rest),
      stored.source.sharesThumbnails(with: source)
    else { return CacheEntry(staged, origin: .memory) }
    let thumbnails = staged.thumbnails.merging(stored.thumbnails) { staged, _ in staged }
    return CacheEntry(source: source, thumbnails: thumbnails, origin: .disk)
  }

  /// Returns true if a write of `key` is pending, so that an earlier lookup may be outdated.
  func isChanging(_ key: SourceKey) -> Bool { writer.change(for: key) != nil }

  /// Stores a source, its thumbnails, and the file itself if it is small enough to be kept.
  func store(_ source: StoredSource, thumbnails: [Thumbnail], original: [UInt8], for key: SourceKey) {
    let fitting = thumbnails.filter { $0.bytes.count <= largestThumbnail }
    if fitting.count < thumbnails.count { monitor.count { $0.refused += thumbnails.count - fitting.count } }
    let bySpec = Dictionary(fitting.map { ($0.spec, $0) }) { $1 }
    let kept = original.count <= largestOriginal ? original : []
    writer.stage(Staging.Change(source: source, thumbnails: bySpec, original: kept), for: key)
  }

  /// Returns the file of `source`; empty if it is missing or no longer the same.
  func original(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    guard case .image(_, let digest, _) = source.content else { return [] }
    if let change = writer.change(for: key), !change.original.isEmpty || change.replacesAll || change.source == nil {
      return change.source.map(source.sharesThumbnails) == true ? change.original : []
    }
    do throws(DiskReader.ReadFailure) {
      let body = try reader.original(of: key)
      // The digest of the download serves as the checksum of the file.
      return BodyDigest(of: body) == digest ? body : []
    } catch {
      note(error)
      return []
    }
  }

  /// Returns the reason why this ``Renderer/edition`` could not decode the bytes of `digest`; nil if the disk has none.
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

  /// Blocks until everything stored so far is on disk or has failed to be written.
  func flush() { writer.flush() }

  private func storedEntry(for lookup: CacheLookup) -> CacheEntry? { storedEntries(for: [lookup]).first ?? nil }

  private func storedEntries(for lookups: [CacheLookup]) -> [CacheEntry?] {
    guard !lookups.isEmpty else { return [] }
    let time = now().wholeSeconds
    var used: [Int] = []
    defer { if !used.isEmpty { writer.noteUses(of: used) } }
    do throws(DiskReader.ReadFailure) {
      return zip(lookups, try reader.find(lookups, now: time, used: &used)).map(entry)
    } catch {
      note(error)
      // A failure that concerns one entry must not lose the others.
      guard lookups.count > 1 else { return [nil] }
      return lookups.map(storedEntry)
    }
  }

  private func entry(for lookup: CacheLookup, _ finding: Finding) -> CacheEntry? {
    switch finding {
    case .missing: return nil
    case .found(let source, let thumbnails): return CacheEntry(source: source, thumbnails: thumbnails, origin: .disk)
    case .unusable:
      monitor.count { $0.unusable += 1 }
      remove(lookup.key)
      return nil
    }
  }

  private func note(_ failure: DiskReader.ReadFailure) {
    monitor.record(failure.error)
    if failure.error.code == .corrupt { writer.reportDamage(in: failure.generation) }
  }
}
