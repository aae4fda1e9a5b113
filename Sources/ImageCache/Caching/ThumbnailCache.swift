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
    /// What the disk level may hold, in bytes. Default 2 GiB. One batch (1 MiB) and the write-ahead log (at most
    /// about 16 MiB) come on top.
    public var diskByteLimit: Int
    /// What the memory level may hold, in bytes. Default 32 MiB, some 2,500 thumbnails of 256 pixels.
    public var memoryByteLimit: Int

    /// A configuration from its parts.
    public init(directory: String? = nil, diskByteLimit: Int = 2 << 30, memoryByteLimit: Int = 32 << 20) {
      self.directory = directory
      self.diskByteLimit = diskByteLimit
      self.memoryByteLimit = memoryByteLimit
    }
  }

  /// What memory keeps for a key. A class, so that a hit under the lock costs one reference.
  private final class Resident: Sendable {
    let source: StoredSource
    let thumbnails: [ThumbnailSpec: Thumbnail]

    init(_ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail]) {
      self.source = source
      self.thumbnails = thumbnails
    }

    /// Bytes kept alive: the pictures, and a round figure for the rest.
    var cost: Int { thumbnails.values.reduce(1024) { $0 + $1.bytes.count + 256 } }
  }

  private let memory: MemoryCache<SourceKey, Resident>
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
        CacheDirectory(path: $0), byteLimit: configuration.diskByteLimit, monitor: monitor, now: now)
    }
  }

  /// The entry that memory has for `key`, without waiting for anything; nil when it has none of this URL.
  ///
  /// - Parameters:
  ///   - key: The source's key.
  ///   - url: The canonical URL, which must be the stored one.
  ///   - specs: The thumbnails to return; some may be missing.
  public func memoryEntry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let entry = resident(key, url: url, specs: specs) else { return nil }
    monitor.count { $0.memoryHits += 1 }
    return entry
  }

  /// The entry of `key` from memory or from disk, fresh or stale; nil when there is none of this URL.
  ///
  /// May block for a read of the disk: not for the threads of Swift's concurrency.
  public func entry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    let held = resident(key, url: url, specs: specs)
    let found = held.map { $0.isComplete(for: specs) } == true ? held : loaded(key, url: url, specs: specs) ?? held
    monitor.count { counters in
      switch found?.origin {
      case .memory: counters.memoryHits += 1
      case .disk: counters.diskHits += 1
      case nil: counters.misses += 1
      }
    }
    return found
  }

  /// Stores a source and thumbnails of it: in memory now, on disk with the next batch. What must not be stored
  /// (``CachePolicy/isStorable``) is in memory only, for those who come in this run.
  ///
  /// Thumbnails stored earlier stay when the source is a picture with the same digest; else they go.
  public func store(_ source: StoredSource, thumbnails: [Thumbnail], for key: SourceKey) {
    changes.withLock { _ in
      keep(source, Dictionary(thumbnails.map { ($0.spec, $0) }) { $1 }, for: key)
      if source.policy.isStorable {
        disk?.store(source, thumbnails: thumbnails, for: key)
      } else {
        disk?.remove(key)
      }
    }
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

  /// Blocks until everything stored before is on disk, or has failed to get there. Called at the end of a run.
  public func flush() { disk?.flush() }

  /// What happened so far.
  public var counters: CacheCounters { monitor.snapshot }

  /// The number of sources in memory, and the bytes they take.
  public var memoryUsage: (sources: Int, bytes: Int) {
    let usage = memory.usage
    return (usage.count, usage.cost)
  }

  private func resident(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let resident = memory.value(for: key), resident.source.url == url else { return nil }
    let isExact = resident.thumbnails.count == specs.count && specs.allSatisfy { resident.thumbnails[$0] != nil }
    let wanted = Set(isExact ? [] : specs)
    return CacheEntry(
      source: resident.source,
      thumbnails: isExact ? resident.thumbnails : resident.thumbnails.filter { wanted.contains($0.key) },
      origin: .memory)
  }

  /// The entry of the disk level, promoted to memory; nil when memory knows of a newer picture.
  private func loaded(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    guard let disk, var entry = disk.entry(for: key, url: url, specs: specs) else { return nil }
    return changes.withLock { _ in
      if let resident = memory.value(for: key), resident.source.url == url {
        // Memory heard of every change here, even of one that never got to the disk.
        guard resident.source.sharesThumbnails(with: entry.source) else { return nil }
        if resident.source.policy.respondedAt > entry.source.policy.respondedAt { entry.source = resident.source }
        for spec in specs where entry.thumbnails[spec] == nil { entry.thumbnails[spec] = resident.thumbnails[spec] }
      } else if disk.isChanging(key), entry.origin == .disk {
        // Written or removed since the look-up: what was found is good to use, and too old to be kept.
        return entry
      }
      keep(entry.source, entry.thumbnails, for: key)
      return entry
    }
  }

  /// Puts a source into memory, with the thumbnails that are there of the same picture. Called under `changes`.
  private func keep(_ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail], for key: SourceKey) {
    var thumbnails = thumbnails
    if let old = memory.value(for: key), old.source.sharesThumbnails(with: source) {
      thumbnails.merge(old.thumbnails) { new, _ in new }
    }
    let resident = Resident(source, thumbnails)
    memory.insert(resident, for: key, cost: resident.cost)
  }
}
