public import Foundation
import GRDB

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

  private func storedEntry(for lookup: CacheLookup) -> CacheEntry? { storedEntries(for: [lookup]).first ?? nil }

  private func storedEntries(for lookups: [CacheLookup]) -> [CacheEntry?] {
    guard !lookups.isEmpty else { return [] }
    let time = now().wholeSeconds
    var used: [SlotUse] = []
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

  private func note(_ failure: DiskReader.ReadFailure) {
    monitor.record(failure.error)
    if failure.error.code == .corrupt { writer.reportDamage(in: failure.generation) }
  }
}

/// A failure of the disk tier. Fetching continues without it; only inspection and maintenance throw it.
public struct DiskCacheError: Error, Hashable, Sendable {
  /// The cause, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// There is no cache in the directory.
    case noCache = "no_cache"
    /// Another process held the lock for too long.
    case busy
    /// A file of the cache is damaged. The next write starts a new generation.
    case corrupt
    /// The cache was created by a newer version of this library.
    case newerSchema = "newer_schema"
    /// The directory is on a file system with unreliable locks.
    case networkFileSystem = "network_file_system"
    /// The disk or the quota is full.
    case diskFull = "disk_full"
    /// Any other system failure, such as missing permissions, a deleted directory or a broken disk.
    case io = "io_error"
  }

  /// The cause.
  public var code: Code
  /// One sentence for people.
  public var message: String
  /// True if the cause stays until somebody ends it, such as missing permissions: the cache is off for the whole run.
  package let isLasting: Bool

  /// Creates an error with a code and a message.
  public init(_ code: Code, _ message: String) {
    self.init(code, message, isLasting: code == .newerSchema || code == .networkFileSystem)
  }

  init(_ code: Code, _ message: String, isLasting: Bool) {
    (self.code, self.message, self.isLasting) = (code, message, isLasting)
  }
}

extension DiskCacheError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message, which is also the `localizedDescription`.
  public var errorDescription: String? { message }
}

extension DiskCacheError {
  /// Creates the error of a failed system call on `path` from `errno`.
  init(systemCall: String, path: String) {
    let number = errno
    self.init(number, "\(systemCall) \(path): \(String(cString: strerror(number)))")
  }

  /// Creates the error with `message` that the `errno` value `number` caused.
  init(_ number: Int32, _ message: String) {
    let isLasting = [EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP].contains(number)
    self.init([ENOSPC, EDQUOT, EFBIG].contains(number) ? .diskFull : .io, message, isLasting: isLasting)
  }

  /// Translates an error from SQLite.
  init(_ error: any Error) {
    switch error {
    case let error as DiskCacheError: self = error
    case let error as DatabaseError where Self.mayBeTooLarge(error):
      self.init(.diskFull, "A file of the cache would exceed the largest size allowed (ulimit -f).")
    case let error as DatabaseError: self.init(Self.code(of: error.resultCode), error.message ?? "\(error)")
    default: self.init(.io, "\(error)")
    }
  }

  /// True if the limit of file sizes is the probable cause of a failed write. SQLite reports it like any other.
  private static func mayBeTooLarge(_ error: DatabaseError) -> Bool {
    var limit = rlimit()
    return writes.contains(error.extendedResultCode)
      && getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0 && limit.rlim_cur < .max
  }

  private static let writes: [ResultCode] = [
    .SQLITE_IOERR_WRITE, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN,
  ]

  private static func code(of result: ResultCode) -> Code {
    switch result {
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
    case .SQLITE_FULL: .diskFull
    // The statements are known to be valid, so an error in one means that a table is damaged.
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA:
      .corrupt
    default: .io
    }
  }
}
