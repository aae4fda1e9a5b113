/// The writes that wait for the disk, visible to lookups at once. A plain value.
///
/// Writes of one key are merged. Bounded in bytes: beyond the limit a write is refused, because a cache that blocks its
/// callers is worse than one that forgets.
struct Staging {
  /// A pending change of one key's entry.
  struct Change {
    /// The source to store; nil removes the entry.
    var source: StoredSource?
    /// The thumbnails to add.
    var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
    /// The whole file to keep; empty for none.
    var original: [UInt8] = []
    /// True if thumbnails already on disk must be removed even if they are of the same bytes.
    var replacesAll = false

    /// The memory held by this change in bytes.
    var cost: Int {
      let texts = source?.textBytes ?? 0
      return thumbnails.values.reduce(512 + texts + original.count) { $0 + $1.bytes.count + 256 }
    }

    /// Returns a single change with the effect of this one followed by `later`.
    func followed(by later: Change) -> Change {
      if let source, let laterSource = later.source, !laterSource.replaces(source) { return self }
      if let source, !source.replacesImages, !replacesAll { return later }
      guard let source, let laterSource = later.source, !later.replacesAll,
        source.sharesThumbnails(with: laterSource)
      else {
        return Change(
          source: later.source, thumbnails: later.thumbnails, original: later.original, replacesAll: true)
      }
      let union = thumbnails.merging(later.thumbnails) { $1 }
      return Change(
        source: laterSource, thumbnails: union, original: later.original.isEmpty ? original : later.original,
        replacesAll: replacesAll)
    }
  }

  /// The changes written in one transaction.
  struct ChangeSet {
    var changes: [(key: SourceKey, change: Change)]
    /// Slots that were used and whose recorded last use is old enough to be updated.
    var used: Set<SlotUse>
  }

  /// The number of entries and of bytes that make a batch full.
  static let batchEntries = 64
  static let batchBytes = 1 << 20
  /// The number of recorded uses that makes a batch full.
  static let batchUses = 1024

  private let byteLimit: Int
  private(set) var bytes = 0
  private var pending: [SourceKey: Change] = [:]
  /// The keys of `pending`, oldest first.
  private var order: [SourceKey] = []
  private var writing: [SourceKey: Change] = [:]
  private var used: Set<SlotUse> = []

  /// - Parameter byteLimit: The most bytes held for writing, including the batch that is being written.
  init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// True if a batch is full.
  var isBatchFull: Bool {
    order.count >= Self.batchEntries || bytes >= Self.batchBytes || used.count >= Self.batchUses
  }

  /// True if nothing waits to be written.
  var isEmpty: Bool { order.isEmpty && used.isEmpty }

  /// Adds a change; returns false if there is no space for it. Removals may use twice the limit, because losing one
  /// would leave an entry that must not exist.
  mutating func stage(_ change: Change, for key: SourceKey) -> Bool {
    let old = pending[key]
    let merged = old?.followed(by: change) ?? change
    let growth = merged.cost - (old?.cost ?? 0)
    guard bytes + growth <= (change.source == nil ? 2 * byteLimit : byteLimit) else { return false }
    if old == nil { order.append(key) }
    pending[key] = merged
    bytes += growth
    return true
  }

  /// Records uses of slots.
  mutating func noteUses(of slots: some Sequence<SlotUse>) { used.formUnion(slots) }

  /// Returns the pending change of `key`; nil if there is none.
  func change(for key: SourceKey) -> Change? {
    guard let written = writing[key] else { return pending[key] }
    return pending[key].map { written.followed(by: $0) } ?? written
  }

  /// Takes the next batch; nil if there is nothing to write. Its changes stay visible until ``finishBatch()``.
  mutating func takeBatch() -> ChangeSet? {
    guard !order.isEmpty || !used.isEmpty else { return nil }
    var (count, size) = (0, 0)
    while count < min(order.count, Self.batchEntries), size < Self.batchBytes {
      size += pending[order[count]]?.cost ?? 0
      count += 1
    }
    let changes = order.prefix(count).compactMap { key in
      pending.removeValue(forKey: key).map { (key: key, change: $0) }
    }
    order.removeFirst(count)
    writing = Dictionary(uniqueKeysWithValues: changes.map { ($0.key, $0.change) })
    defer { used = [] }
    return ChangeSet(changes: changes, used: used)
  }

  /// Puts those changes of the last batch back for which `isKept` returns true, ahead of all others. Recorded uses come
  /// back if any change does.
  ///
  /// - Returns: The number of changes lost.
  mutating func putBack(_ batch: ChangeSet, where isKept: (Change) -> Bool) -> Int {
    finishBatch()
    let kept = batch.changes.filter { isKept($0.change) }
    order.insert(contentsOf: kept.map(\.key).filter { pending[$0] == nil }, at: 0)
    for (key, change) in kept {
      let later = pending[key]
      let merged = later.map { change.followed(by: $0) } ?? change
      pending[key] = merged
      bytes += merged.cost - (later?.cost ?? 0)
    }
    if !kept.isEmpty { used.formUnion(batch.used) }
    return batch.changes.count - kept.count
  }

  /// Drops the pending changes for which `isLost` returns true, and returns their number.
  mutating func drop(where isLost: (Change) -> Bool) -> Int {
    let lost = order.filter { key in pending[key].map(isLost) ?? false }
    for key in lost {
      bytes -= pending.removeValue(forKey: key)?.cost ?? 0
    }
    order.removeAll { pending[$0] == nil }
    return lost.count
  }

  /// Ends the last batch, whether it was written or not.
  mutating func finishBatch() {
    bytes -= writing.values.reduce(0) { $0 + $1.cost }
    writing = [:]
  }
}

// MARK: Removal

extension Staging.ChangeSet {
  /// Removes thumbnails of more than `limit` bytes, and originals of more than `originalLimit`.
  ///
  /// - Returns: The number of thumbnails removed.
  mutating func removeBodies(above limit: Int, original originalLimit: Int) -> Int {
    var count = 0
    for index in changes.indices {
      let thumbnails = changes[index].change.thumbnails
      if thumbnails.values.contains(where: { $0.bytes.count > limit }) {
        changes[index].change.thumbnails = thumbnails.filter { $0.value.bytes.count <= limit }
        count += thumbnails.count - changes[index].change.thumbnails.count
      }
      if changes[index].change.original.count > originalLimit { changes[index].change.original = [] }
    }
    return count
  }

  /// Removes everything except removals.
  ///
  /// - Returns: The number of changes that lost something.
  mutating func removeAdditions() -> Int {
    let lost = changes.count { $0.change.adds }
    changes = changes.compactMap { key, change in change.withoutAdditions.map { (key, $0) } }
    used = []
    return lost
  }
}

extension Staging.Change {
  /// True if an entry that exists on disk must not stay as it is.
  var removes: Bool { source == nil || replacesAll || !adds }

  /// True if the change needs space on disk.
  fileprivate var adds: Bool { source?.policy.isStorable ?? false }

  /// The part of this change that needs no space; nil if all of it does.
  fileprivate var withoutAdditions: Self? {
    if !adds { return self }
    return replacesAll ? Self(source: nil) : nil
  }
}
