public import Foundation
public import Logging
import Synchronization

/// The two-level cache of thumbnails: memory in front of a disk directory that processes share.
///
/// One entry is one source and its thumbnails by spec. Nothing here throws: whatever fails on disk is counted, logged
/// once, and looks like a miss. What is returned from disk has passed a checksum, and is of the very URL asked for.
public final class ThumbnailCache: Sendable {
  /// How large the levels are, and where.
  public struct Configuration: Hashable, Sendable {
    /// The directory of the disk level; nil for memory only. Default nil. See ``CacheLocation/standard(environment:)``.
    public var directory: String?
    /// What the disk level may hold, in bytes. A lower limit stored in the directory itself goes before; see
    /// ``CacheMaintenance/setLimit(_:directory:)``. Default nil: the stored limit, else ``standardDiskByteLimit``. One
    /// batch (1 MiB) and the write-ahead log (at most about 16 MiB) come on top.
    public var diskByteLimit: Int?
    /// Whether the disk level keeps the files themselves too. Default ``OriginalKeeping/none``.
    public var originals: OriginalKeeping
    /// What the memory level may hold, in bytes. Default 32 MiB, some 2,500 thumbnails of 256 pixels.
    public var memoryByteLimit: Int

    /// What the disk level may hold when nobody says: 2 GiB.
    public static let standardDiskByteLimit = 2 << 30

    /// A configuration from its parts.
    public init(
      directory: String? = nil, diskByteLimit: Int? = nil, originals: OriginalKeeping = .none,
      memoryByteLimit: Int = 32 << 20
    ) {
      self.directory = directory
      self.diskByteLimit = diskByteLimit
      self.originals = originals
      self.memoryByteLimit = memoryByteLimit
    }
  }

  private let memory: MemoryCache<SourceKey, CacheEntry.Content>
  /// Why some bytes are no picture, in front of what the disk knows of that.
  private let undecodable = MemoryCache<BodyDigest, ImageError>(costLimit: 1 << 18)
  private let disk: DiskCache?
  private let monitor: CacheMonitor
  /// Orders the changes of both levels, which would otherwise meet in opposite order there. Hits in memory do not
  /// take it.
  private let changes = Mutex(())

  /// A cache. Never fails: a disk level that does not work is counted and logged once, and the memory level goes on.
  ///
  /// - Parameters:
  ///   - configuration: The sizes and the directory, which is created at the first write.
  ///   - logger: Hears of each kind of failure once.
  ///   - now: The clock that says when something was used. Default the system's.
  public init(_ configuration: Configuration, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }) {
    let monitor = CacheMonitor(logger: logger)
    self.monitor = monitor
    memory = MemoryCache(costLimit: configuration.memoryByteLimit)
    disk = configuration.directory.map {
      DiskCache(
        CacheDirectory(path: $0), byteLimit: configuration.diskByteLimit, originals: configuration.originals,
        monitor: monitor, now: now)
    }
  }

  /// The entry that memory has for `key`, without waiting for anything; nil when it has none of this URL.
  ///
  /// - Parameters:
  ///   - key: The source's key.
  ///   - url: The canonical URL, which must be the stored one.
  ///   - specs: The thumbnails to return; some may be missing.
  public func memoryEntry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let content = resident(key, url: url, specs: specs) else { return nil }
    monitor.countMemoryHit()
    return CacheEntry(content, origin: .memory)
  }

  /// The entry of `key` from memory or from disk, fresh or stale; nil when there is none of this URL.
  ///
  /// May block for a read of the disk: not for the threads of Swift's concurrency.
  public func entry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    let held = resident(key, url: url, specs: specs).map { CacheEntry($0, origin: .memory) }
    if let held, held.content.isComplete(for: specs) {
      monitor.countMemoryHit()
      return held
    }
    let found = loaded(key, url: url, specs: specs) ?? held
    switch found?.origin {
    case .memory: monitor.countMemoryHit()
    case .disk: monitor.count { $0.diskHits += 1 }
    case nil: monitor.count { $0.misses += 1 }
    }
    return found
  }

  /// Stores a source and thumbnails of it: in memory now, on disk with the next batch. What must not be stored
  /// (``CachePolicy/isStorable``) is in memory only, for those who come in this run.
  ///
  /// Thumbnails stored earlier stay when the source is a picture with the same digest; else they go. A picture stays when
  /// the source is a failure that is never fresh, or one of bytes that are no picture: then the failure is in memory only,
  /// as ``CacheEntry/setback``. May block for a read of the disk then.
  ///
  /// - Parameters:
  ///   - source: What is known of the answer.
  ///   - thumbnails: In the sizes that were wanted; none for a failure.
  ///   - original: The whole file, which is kept where ``Configuration/originals`` says so; empty for none.
  ///   - key: Under which it is found.
  public func store(_ source: StoredSource, thumbnails: [Thumbnail], original: [UInt8] = [], for key: SourceKey) {
    if case .failure(_, _, let digest?) = source.content, let error = source.imageError(of: digest) {
      undecodable.insert(error, for: digest, cost: 128 + error.message.utf8.count)
    }
    // Brings the picture that the disk may have into memory.
    if !source.replacesPictures, memory.value(for: key) == nil { _ = loaded(key, url: source.url, specs: []) }
    changes.withLock { _ in
      if let old = memory.value(for: key), !source.replaces(old.source) {
        let content = old.with(setback: source)
        memory.insert(content, for: key, cost: content.cost)
        return
      }
      keep(source, Dictionary(thumbnails.map { ($0.spec, $0) }) { $1 }, for: key)
      if source.policy.isStorable {
        disk?.store(source, thumbnails: thumbnails, original: original, for: key)
      } else {
        disk?.remove(key)
      }
    }
  }

  /// The whole file that `source` was, if it was kept and is unchanged; empty when it is not there.
  ///
  /// May block for a read of the disk: not for the threads of Swift's concurrency.
  public func original(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    disk?.original(of: source, for: key) ?? []
  }

  /// Why the bytes of `digest` are no picture, if this ``Renderer/version`` found that out before, at any address, and
  /// it was stored as a failure with their digest; nil when they are worth a try.
  ///
  /// May block for a read of the disk: not for the threads of Swift's concurrency.
  public func imageError(of digest: BodyDigest) -> ImageError? {
    undecodable.value(for: digest) ?? disk?.imageError(of: digest)
  }

  /// Stores what a 304 said of a source. Every thumbnail stays.
  public func renew(_ source: StoredSource, for key: SourceKey) { store(source, thumbnails: [], for: key) }

  /// Forgets a source and its thumbnails.
  public func remove(_ key: SourceKey) {
    changes.withLock { _ in
      memory.remove(key)
      disk?.remove(key)
    }
  }

  /// Empties the memory level, for an application that is short of memory. The disk level stays as it is.
  public func emptyMemory() { changes.withLock { _ in memory.removeAll() } }

  /// Blocks until everything stored before is on disk, or has failed to get there. Called at the end of a run.
  public func flush() { disk?.flush() }

  /// What happened so far.
  public var counters: CacheCounters { monitor.snapshot }

  /// The number of sources in memory, and the bytes they take.
  public var memoryUsage: (sources: Int, bytes: Int) {
    let usage = memory.usage
    return (usage.count, usage.cost)
  }

  private func resident(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry.Content? {
    guard let content = memory.value(for: key), content.source.url == url else { return nil }
    return content.narrowed(to: specs)
  }

  /// The entry of the disk level, promoted to memory; nil when memory knows of a newer picture.
  private func loaded(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let disk, let entry = disk.entry(for: key, url: url, specs: specs) else { return nil }
    return changes.withLock { _ in
      guard let resident = memory.value(for: key), resident.source.url == url else {
        // Written or removed since the look-up: what was found is good to use, and too old to be kept.
        if entry.origin != .disk || !disk.isChanging(key) { keep(entry.source, entry.thumbnails, for: key) }
        return entry
      }
      // Memory heard of every change here, even of one that never got to the disk.
      guard resident.source.sharesThumbnails(with: entry.source) else { return nil }
      let isNewer = resident.source.policy.respondedAt > entry.source.policy.respondedAt
      let wanted = resident.narrowed(to: specs).thumbnails
      let merged = CacheEntry.Content(
        isNewer ? resident.source : entry.source, entry.thumbnails.merging(wanted) { old, _ in old },
        setback: resident.setback)
      keep(merged.source, merged.thumbnails, setback: resident.setback, for: key)
      return CacheEntry(merged, origin: entry.origin)
    }
  }

  /// Puts a source into memory, with the thumbnails that are there of the same picture. Called under `changes`.
  private func keep(
    _ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail], setback: StoredSource? = nil, for key: SourceKey
  ) {
    var thumbnails = thumbnails
    if let old = memory.value(for: key), old.source.sharesThumbnails(with: source) {
      thumbnails.merge(old.thumbnails) { new, _ in new }
    }
    let content = CacheEntry.Content(source, thumbnails, setback: setback)
    memory.insert(content, for: key, cost: content.cost)
  }
}
