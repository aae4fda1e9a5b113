/// The writes that are on their way to the disk, and what they look like from here: a plain value.
///
/// What is stored can be found at once. Writes of one key melt together. Bounded in bytes: beyond the limit a write is
/// refused, because a cache that holds its callers up is worse than one that forgets.
struct Staging {
  /// What shall become of one key's entry.
  struct Change {
    /// The source to store; nil removes the entry.
    var source: StoredSource?
    /// Thumbnails to add.
    var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
    /// The whole file to keep; empty for none.
    var original: [UInt8] = []
    /// Whether thumbnails that are on disk already must go, even those of the same bytes.
    var replacesAll = false

    /// What this holds in memory, in bytes.
    var cost: Int { thumbnails.values.reduce(512 + original.count) { $0 + $1.bytes.count + 256 } }

    /// The change that has the effect of this one, then `later`.
    func followed(by later: Change) -> Change {
      if let source, let laterSource = later.source, !laterSource.replaces(source) { return self }
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

  /// What is written in one transaction.
  struct Batch {
    var changes: [(key: SourceKey, change: Change)]
    /// Entries that were used, of which the last use is old enough to be noted again.
    var used: Set<SourceKey>
  }

  /// The sizes that make a batch full.
  static let batchEntries = 64
  static let batchBytes = 1 << 20
  /// So many notes of use are a reason to write.
  static let batchUses = 1024

  private let byteLimit: Int
  private(set) var bytes = 0
  private var pending: [SourceKey: Change] = [:]
  /// The keys of `pending`, oldest first.
  private var order: [SourceKey] = []
  private var writing: [SourceKey: Change] = [:]
  private var used: Set<SourceKey> = []

  /// - Parameter byteLimit: The most that is held for writing; what is being written right now included.
  init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// Whether a batch is full.
  var isBatchFull: Bool {
    order.count >= Self.batchEntries || bytes >= Self.batchBytes || used.count >= Self.batchUses
  }

  /// Whether nothing waits to be written.
  var isEmpty: Bool { order.isEmpty && used.isEmpty }

  /// Takes a change; false when there is no room for it. Removals have as much room again: one that is lost leaves what
  /// must not be there.
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

  /// Notes that the entry of `key` was used.
  mutating func noteUse(of key: SourceKey) { used.insert(key) }

  /// What is to become of `key`; nil when nothing is on its way.
  func change(for key: SourceKey) -> Change? {
    guard let written = writing[key] else { return pending[key] }
    return pending[key].map { written.followed(by: $0) } ?? written
  }

  /// The next batch; nil when there is nothing to write. It stays visible until ``finishBatch()``.
  mutating func takeBatch() -> Batch? {
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
    return Batch(changes: changes, used: used)
  }

  /// Takes those changes of the batch taken last back that `isKept` says, to be written before all others. Notes of use
  /// come back if any change does.
  ///
  /// - Returns: The number of changes that are lost.
  mutating func putBack(_ batch: Batch, where isKept: (Change) -> Bool) -> Int {
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

  /// Drops what waits, as far as `isLost` says so. Returns the number of changes dropped.
  mutating func drop(where isLost: (Change) -> Bool) -> Int {
    let lost = order.filter { key in pending[key].map(isLost) ?? false }
    for key in lost {
      bytes -= pending.removeValue(forKey: key)?.cost ?? 0
    }
    order.removeAll { pending[$0] == nil }
    return lost.count
  }

  /// Forgets the batch taken last, written or not.
  mutating func finishBatch() {
    bytes -= writing.values.reduce(0) { $0 + $1.cost }
    writing = [:]
  }
}
