public import CoreMetrics
public import Foundation
public import Logging
import Synchronization

/// A two-tier cache of thumbnails: memory in front of a disk directory that several processes can share.
///
/// An entry is one source with its thumbnails by spec. No method throws: a disk failure is counted, logged once per
/// kind, and treated as a miss. Everything returned from disk has passed a checksum and belongs to the requested URL.
///
/// This function renders a thumbnail unless the cache has a fresh one:
///
/// ```swift
/// func thumbnail(
///   _ spec: ThumbnailSpec, of url: String, in cache: ThumbnailCache, download: () throws -> (HTTPResponse, [UInt8])
/// ) throws -> Thumbnail? {
///   let key = SourceKey(url: url)
///   if let entry = cache.entry(for: key, url: url, specs: [spec]), let thumbnail = entry.thumbnails[spec],
///     entry.source.policy.state(at: Date()) == .fresh
///   {
///     return thumbnail
///   }
///   let requestedAt = Date()
///   let (response, bytes) = try download()
///   let policy = CachePolicy.ofAny(response: response, requestedAt: requestedAt, respondedAt: Date())
///   let rendering = try Renderer().render(bytes, specs: [spec])
///   let source = StoredSource(
///     url: url, status: response.status.code, policy: policy,
///     content: .image(rendering.source, digest: BodyDigest(of: bytes), bytes: bytes.count))
///   cache.store(source, thumbnails: rendering.thumbnails, for: key)
///   return rendering.thumbnails.first
/// }
/// ```
///
/// Images that do not come by HTTP need no policy: see ``thumbnails(of:specs:lifetime:renderer:bytes:)``.
public final class ThumbnailCache: Sendable {
  /// The location and the limits of a cache.
  public struct Configuration: Hashable, Sendable {
    /// The directory of the disk tier; nil for memory only. Default nil. See ``CacheLocation/standard(environment:)``.
    public var directory: String?
    /// The most bytes the disk tier may hold. A lower limit stored in the directory takes precedence; see
    /// ``CacheMaintenance/setLimit(_:directory:)``. Default nil: the stored limit, or ``standardDiskByteLimit`` if
    /// the directory stores none. One batch (1 MiB) and the write-ahead log come on top. The log takes about
    /// 16 MiB, or if a stopped process holds it back, at most 32 MiB and an eighth of the limit.
    public var diskByteLimit: Int?
    /// The policy for downloaded files on disk. Default ``OriginalPolicy/none``.
    public var originals: OriginalPolicy
    /// The most bytes of sources and thumbnails that the memory tier may hold. Default 32 MiB, about 2,500 thumbnails
    /// of 256 pixels.
    public var memoryByteLimit: Int
    /// The most bytes of downloaded files that the memory tier may hold besides, so that a new thumbnail size of a
    /// fresh source needs no download, with or without a directory. A file of more than an eighth of it is not kept,
    /// nor is a response with `no-store`. Default 0: none.
    public var memoryOriginalByteLimit: Int

    /// The disk limit without any setting: 2 GiB.
    public static let standardDiskByteLimit = 2 << 30

    /// Creates a configuration from its parts.
    public init(
      directory: String? = nil, diskByteLimit: Int? = nil, originals: OriginalPolicy = .none,
      memoryByteLimit: Int = 32 << 20, memoryOriginalByteLimit: Int = 0
    ) {
      self.directory = directory
      self.diskByteLimit = diskByteLimit
      self.originals = originals
      self.memoryByteLimit = memoryByteLimit
      self.memoryOriginalByteLimit = memoryOriginalByteLimit
    }
  }

  let memory: MemoryCache<SourceKey, CacheEntry.Content>
  let originals: MemoryOriginals
  /// Decoding failures by digest, in front of those on disk.
  private let undecodable = MemoryCache<BodyDigest, ImageError>(costLimit: 1 << 18)
  private let disk: DiskCache?
  let directory: CacheDirectory?
  let now: @Sendable () -> Date
  private let began: Date
  private let configuration: Configuration
  let monitor: CacheMonitor
  /// Applies the changes of a key in the same order to both tiers. Without it, thread A could be the first to store a
  /// key in memory while thread B is the first to stage it for the disk, and the tiers would keep different sources.
  /// Memory hits do not take it.
  private let changes = KeyedLock()

  /// Creates a cache. Never fails: a broken disk tier is counted and logged, and the memory tier keeps working. On a
  /// network file system, there is no disk tier from the start.
  ///
  /// - Parameters:
  ///   - configuration: The limits and the directory, which is created at the first write. Default: memory only.
  ///   - logger: Receives one warning per kind of failure. Default: one with the label `thumbs`.
  ///   - metrics: Receives the metrics; nil for the factory that the program has set with `MetricsSystem.bootstrap`.
  ///     Default nil.
  ///   - now: Returns the current time, which is recorded as an entry's last use. Default: the system clock.
  public convenience init(
    _ configuration: Configuration = Configuration(), logger: Logger = Logger(label: "thumbs"),
    metrics: (any MetricsFactory)? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    let directory = configuration.directory.map { CacheDirectory(path: $0) }
    self.init(configuration, in: directory, logger: logger, metrics: metrics, now: now)
  }

  /// - Parameter directory: The directory of the configuration.
  init(
    _ configuration: Configuration, in directory: CacheDirectory?, logger: Logger,
    metrics: (any MetricsFactory)? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    let metrics = CacheMetrics(metrics ?? MetricsSystem.factory, hasDisk: configuration.directory != nil)
    let monitor = CacheMonitor(logger: logger, metrics: metrics)
    self.monitor = monitor
    memory = MemoryCache(costLimit: configuration.memoryByteLimit) { metrics.memory.evictions.increment(by: $0) }
    originals = MemoryOriginals(byteLimit: configuration.memoryOriginalByteLimit)
    self.now = now
    began = now()
    self.configuration = configuration
    self.directory = directory
    disk = directory.flatMap { directory in
      if let error = directory.remoteFault {
        monitor.record(error)
        return nil
      }
      return DiskCache(
        directory, byteLimit: configuration.diskByteLimit, originals: configuration.originals, monitor: monitor,
        now: now)
    }
  }

  // MARK: Looking up

  /// Returns the entry that the memory tier has for `key`, without blocking; nil if it has none for this URL. Counts a
  /// hit.
  ///
  /// - Parameters:
  ///   - key: The key of the source.
  ///   - url: The canonical URL, which must equal the stored one.
  ///   - specs: The thumbnails to return. Some may be missing from the entry.
  public func memoryEntry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    memoryEntry(for: key, url: url, specs: specs) { $0 }
  }

  /// Returns the result of `use` for the entry that the memory tier has for `key`, without blocking; nil if it has none
  /// for this URL. Counts a hit unless `use` returns nil; a lookup with ``entry(for:url:specs:)`` follows in that case,
  /// and is counted.
  ///
  /// - Parameters:
  ///   - key: The key of the source.
  ///   - url: The canonical URL, which must equal the stored one.
  ///   - specs: The thumbnails in the entry. Some may be missing.
  ///   - use: Returns nil if the entry is of no use.
  public func memoryEntry<Result>(
    for key: SourceKey, url: String, specs: [ThumbnailSpec], use: (CacheEntry) -> Result?
  ) -> Result? {
    guard let content = resident(key, url: url, specs: specs),
      let result = use(CacheEntry(content, origin: .memory))
    else { return nil }
    monitor.countMemoryHit(of: key)
    return result
  }

  /// Returns the entry of `key` from memory or disk, fresh or stale; nil if there is none for this URL.
  ///
  /// May block on a disk read: do not call it on the threads of Swift concurrency.
  public func entry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    entries(for: [CacheLookup(key: key, url: url, specs: specs)]).first ?? nil
  }

  /// Returns the entries of `lookups` in the same order, each from memory or disk, fresh or stale; nil for those that
  /// do not exist. Several lookups at once cost less than one after the other: those on disk share a read transaction.
  ///
  /// May block on disk reads: do not call it on the threads of Swift concurrency.
  public func entries(for lookups: [CacheLookup]) -> [CacheEntry?] {
    let held = lookups.map { resident($0.key, url: $0.url, specs: $0.specs) }
    let isOpen = zip(lookups, held).map { lookup, held in !(held?.isComplete(for: lookup.specs) ?? false) }
    let open = isOpen.contains(false) ? zip(lookups, isOpen).filter(\.1).map(\.0) : lookups
    var loaded = load(open).makeIterator()
    let entries = zip(held, isOpen).map { held, isOpen in
      let entry = held.map { CacheEntry($0, origin: .memory) }
      return isOpen ? (loaded.next() ?? nil) ?? entry : entry
    }
    count(entries, of: lookups)
    return entries
  }

  private func count(_ entries: [CacheEntry?], of lookups: [CacheLookup]) {
    var (diskHits, misses) = (0, 0)
    for (lookup, entry) in zip(lookups, entries) {
      // An entry that lacks a size does not save the download.
      switch entry?.content.isComplete(for: lookup.specs) == true ? entry?.origin : nil {
      case .memory: monitor.countMemoryHit(of: lookup.key)
      case .disk: diskHits += 1
      case nil: misses += 1
      }
    }
    guard diskHits + misses > 0 else { return }
    monitor.count { counters in
      counters.diskHits += diskHits
      counters.misses += misses
    }
  }

  private func resident(_ key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry.Content? {
    guard let content = memory.value(for: key), content.source.url == url else { return nil }
    return content.narrowed(to: specs)
  }

  /// Puts the entries of the disk tier into memory and returns them; nil for those of which memory has a newer image.
  private func load(_ lookups: [CacheLookup]) -> [CacheEntry?] {
    guard let disk, !lookups.isEmpty else { return lookups.map { _ in nil } }
    return zip(lookups, disk.entries(for: lookups)).map { lookup, entry in
      entry.flatMap { promote($0, for: lookup.key, specs: lookup.specs, from: disk) }
    }
  }

  private func promote(
    _ entry: CacheEntry, for key: SourceKey, specs: [ThumbnailSpec], from disk: DiskCache
  ) -> CacheEntry? {
    let url = entry.source.url
    return changes.withLock(for: key) {
      guard let resident = memory.value(for: key), resident.source.url == url else {
        // Another thread may have stored or removed the entry since the lookup. The result may still be returned, but
        // is too old to be kept.
        if entry.origin != .disk || !disk.isChanging(key) {
          memory.insert(entry.content, for: key, cost: entry.content.cost)
        }
        return entry
      }
      // Memory has seen every change of this process, including those that never reached the disk.
      guard resident.source.sharesThumbnails(with: entry.source) else { return nil }
      let isNewer = resident.source.policy.respondedAt > entry.source.policy.respondedAt
      let wanted = resident.narrowed(to: specs).thumbnails
      let merged = CacheEntry.Content(
        isNewer ? resident.source : entry.source, entry.thumbnails.merging(wanted) { old, _ in old },
        laterFailure: resident.laterFailure)
      keep(merged, for: key)
      return CacheEntry(merged, origin: entry.origin)
    }
  }

  // MARK: Storing

  /// Stores a source and its thumbnails: in memory now, on disk with the next batch. A source that must not be stored
  /// (see ``CachePolicy/isStorable``) stays in memory only.
  ///
  /// Thumbnails stored earlier are kept if the source is an image with the same digest, and removed otherwise. A stored
  /// image is kept if the source is a failure that is never fresh or one of undecodable bytes; the failure is then kept
  /// in memory only, as ``CacheEntry/laterFailure``. This case may block on a disk read.
  ///
  /// - Parameters:
  ///   - source: The source as described by the response.
  ///   - thumbnails: The rendered thumbnails; empty for a failure.
  ///   - original: The whole file, kept depending on ``Configuration/originals`` and
  ///     ``Configuration/memoryOriginalByteLimit``; empty for none.
  ///   - key: The key of the source.
  public func store(_ source: StoredSource, thumbnails: [Thumbnail], original: [UInt8] = [], for key: SourceKey) {
    if case .failure(_, _, let digest?) = source.content, let error = source.imageError(of: digest) {
      undecodable.insert(error, for: digest, cost: 128 + error.message.utf8.count)
    }
    // Loads an image from disk into memory, so that the check below sees it.
    if !source.replacesImages, memory.value(for: key) == nil {
      _ = load([CacheLookup(key: key, url: source.url, specs: [])])
    }
    changes.withLock(for: key) {
      if let old = memory.value(for: key), !source.replaces(old.source) {
        let content = old.with(laterFailure: source)
        memory.insert(content, for: key, cost: content.cost)
        return
      }
      keep(CacheEntry.Content(source, Dictionary(thumbnails.map { ($0.spec, $0) }) { $1 }), for: key)
      originals.store(original, of: source, for: key)
      // The disk tier keeps a stored image in place of a useless failure, which memory may not know.
      if source.policy.isStorable || !source.replacesImages {
        disk?.store(source, thumbnails: thumbnails, original: original, for: key)
      } else {
        disk?.remove(key)
      }
    }
  }

  /// Puts `content` into memory and keeps the thumbnails already there if the bytes are the same. Requires `changes`.
  private func keep(_ content: CacheEntry.Content, for key: SourceKey) {
    var content = content
    if let old = memory.value(for: key), old.source.sharesThumbnails(with: content.source) {
      let thumbnails = content.thumbnails.merging(old.thumbnails) { new, _ in new }
      content = CacheEntry.Content(content.source, thumbnails, laterFailure: content.laterFailure)
    }
    memory.insert(content, for: key, cost: content.cost)
  }

  /// Stores a source as updated by a 304 response. All thumbnails are kept.
  public func update(_ source: StoredSource, for key: SourceKey) { store(source, thumbnails: [], for: key) }

  /// Removes a source and its thumbnails from both tiers.
  public func remove(_ key: SourceKey) {
    changes.withLock(for: key) {
      memory.remove(key)
      originals.remove(key)
      disk?.remove(key)
    }
  }

  // MARK: Without HTTP

  /// Returns the thumbnails of an image that does not come by HTTP: from the cache, or else rendered and stored.
  ///
  /// ```swift
  /// let changed = try photo.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
  /// let name = "\(photo.path) \(changed ?? .distantPast)"
  /// let set = try await cache.thumbnails(of: name, specs: [ThumbnailSpec(width: 256)]) {
  ///   try Data(contentsOf: photo)
  /// }
  /// ```
  ///
  /// No thread of Swift concurrency is blocked, except by `bytes`. Several calls at a time for the same name read and
  /// render the image more than once.
  ///
  /// - Parameters:
  ///   - name: Identifies the content of the image: a path with its time of change, or a digest.
  ///   - specs: The thumbnails.
  ///   - lifetime: The time for which stored thumbnails are used. Default: 68 years, for a name that changes with the
  ///     content.
  ///   - renderer: Renders the image. Its ``Renderer/process`` is a part of the key.
  ///   - bytes: Returns the whole file. Called only if a thumbnail is missing.
  /// - Returns: One thumbnail per spec, in the order of the specs.
  /// - Throws: What `bytes` throws; an ``ImageError``, which is not stored; `CancellationError`.
  public func thumbnails<Bytes: Sequence<UInt8> & Sendable>(
    of name: String, specs: [ThumbnailSpec], lifetime: Duration = .seconds(Int32.max), renderer: Renderer = Renderer(),
    bytes: () async throws -> Bytes
  ) async throws -> [Thumbnail] {
    let key = SourceKey(url: name, variant: Self.variant(of: renderer))
    let lookup = CacheLookup(key: key, url: name, specs: specs)
    if let entry = await entry(for: lookup), entry.source.policy.state(at: now()) == .fresh {
      let found = specs.compactMap { entry.thumbnails[$0] }
      if found.count == specs.count, renderer.accepts(entry.source) { return found }
    }
    let file = Array(try await bytes())
    let rendering = try await renderer.rendering(of: file, specs: specs)
    guard !rendering.isDamaged else { return rendering.thumbnails }
    let source = StoredSource(
      name: name, image: rendering.source, digest: BodyDigest(of: file), bytes: file.count, lifetime: lifetime,
      now: now())
    store(source, thumbnails: rendering.thumbnails, for: key)
    return rendering.thumbnails
  }

  /// Returns what decides about the pixels besides the bytes and the specs.
  private static func variant(of renderer: Renderer) -> String {
    let inks = renderer.caches.transforms.inks.map { "inks \(BodyDigest(of: $0.bytes))\n" } ?? ""
    let page = renderer.page == 1 ? "" : "page \(renderer.page)\n"
    return "name\n\(inks)\(page)\(renderer.process.map { "process \($0.id)" } ?? "")"
  }

  /// Returns the entry of a lookup from memory or disk, fresh or stale, without blocking a thread of Swift concurrency;
  /// nil if the cache does not have it.
  public func entry(for lookup: CacheLookup) async -> CacheEntry? {
    if let entry = resident(lookup.key, url: lookup.url, specs: lookup.specs), entry.isComplete(for: lookup.specs) {
      monitor.countMemoryHit(of: lookup.key)
      return CacheEntry(entry, origin: .memory)
    }
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: self.entries(for: [lookup]).first ?? nil) }
    }
  }

  // MARK: Originals and failures

  /// Returns the whole file of `source` from memory or disk if it was kept and is unchanged; empty otherwise.
  ///
  /// May block on a disk read: do not call it on the threads of Swift concurrency.
  public func original(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    let held = memoryOriginal(of: source, for: key)
    return held.isEmpty ? disk?.original(of: source, for: key) ?? [] : held
  }

  /// Returns the whole file of `source` if memory has it and it is unchanged, without blocking; empty otherwise.
  public func memoryOriginal(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    originals.bytes(of: source, for: key)
  }

  /// Returns the reason why the bytes of `digest` cannot be decoded, if a renderer of this version with the same
  /// formats has stored a failure with this digest for any URL; nil otherwise.
  ///
  /// May block on a disk read: do not call it on the threads of Swift concurrency.
  public func imageError(of digest: BodyDigest) -> ImageError? {
    undecodable.value(for: digest) ?? disk?.imageError(of: digest)
  }

  // MARK: Ending

  /// Empties the memory tier, for an application that runs short of memory. The disk tier is unchanged.
  public func emptyMemory() {
    memory.removeAll()
    originals.removeAll()
  }

  /// Blocks until everything stored so far is on disk or has failed to be written. Call it at the end of a run.
  public func flush() { disk?.flush() }

  /// Adds the counts so far to the last runs that ``CacheInspector/runs`` returns. Call it once, at the end of a run.
  /// Has no effect without a disk tier, before the first write to it, or without lookups.
  public func recordRun() {
    let limit = directory.flatMap { try? DiskStore($0, byteLimit: configuration.diskByteLimit).limit() }
    let run = CacheRun(began: began, ended: now(), limit: limit, counters)
    if run.lookups > 0 { directory?.record(run) }
  }

  /// The counts of what happened so far.
  public var counters: CacheCounters { monitor.snapshot }

  /// The number of sources in memory, and their size in bytes with that of the originals in memory.
  public var memoryUsage: (sources: Int, bytes: Int) {
    let usage = memory.usage
    return (usage.count, usage.cost + originals.usage.cost)
  }
}

/// A policy for keeping the downloaded files that thumbnails are made from on disk. For those in memory, see
/// ``ThumbnailCache/Configuration/memoryOriginalByteLimit``.
public enum OriginalPolicy: Hashable, Sendable {
  /// Discards each file once its thumbnails are made.
  case none
  /// Keeps the files on disk, so that a new thumbnail size needs no download. They take at most this percentage of the
  /// disk limit, 1 to 100; the files stored first are evicted first.
  case share(percent: Int)

  /// Keeps originals in at most 20 percent of the disk limit.
  public static let standard = OriginalPolicy.share(percent: 20)

  /// Returns the most bytes that originals may take of a cache limited to `limit` bytes.
  func byteLimit(of limit: Int) -> Int {
    switch self {
    case .none: 0
    case .share(let percent):
      // In this order, no step overflows.
      max(0, limit) / 100 * percent.clamped + max(0, limit) % 100 * percent.clamped / 100
    }
  }
}

extension Renderer {
  /// Returns true if the size of an image in the cache is within the limits.
  fileprivate func accepts(_ source: StoredSource) -> Bool {
    guard case .image(let image, _, _) = source.content, image.size.area <= maxPixels else { return false }
    return (try? image.size.check(minPixels: minPixels, maxAspectRatio: maxAspectRatio)) != nil
  }
}

extension Int {
  /// The percentage within its range.
  fileprivate var clamped: Int { Swift.min(Swift.max(self, 0), 100) }
}
