/// Who waits for what: a table of running work, each piece wanted by one or several callers. A plain value; its owner
/// guards it with a lock, and acts on the results after unlocking.
///
/// A caller is in the table exactly as long as it has to be told something. Whoever takes it out tells it. So each
/// caller hears exactly one end, whatever races with what.
struct InFlight<Key: Hashable, Work, Caller> {
  /// Names a caller as long as the table lives.
  typealias CallerID = UInt64

  private struct Entry {
    let generation: UInt64
    let work: Work
    var callers: [CallerID: Caller]
  }

  private var entries: [Key: Entry] = [:]
  private var lastID: UInt64 = 0

  /// Whether nothing runs and nobody waits.
  var isEmpty: Bool { entries.isEmpty }
  /// The number of running pieces of work.
  var count: Int { entries.count }

  /// A place in the table.
  struct Joined {
    /// The caller's name, for ``leave(_:_:)``.
    let id: CallerID
    /// What the caller waits for now.
    let work: Work
    /// Whether the work was made for this caller, and has to be started.
    let isNew: Bool
  }

  /// Joins the work of `key`, or makes it. `make` gets the generation by which the work names itself later on, so that
  /// an abandoned piece of work, ending late, never answers for its successor.
  mutating func join(_ key: Key, _ caller: Caller, make: (_ generation: UInt64) -> Work) -> Joined {
    lastID += 1
    if var entry = entries[key] {
      entry.callers[lastID] = caller
      entries[key] = entry
      return Joined(id: lastID, work: entry.work, isNew: false)
    }
    let work = make(lastID)
    entries[key] = Entry(generation: lastID, work: work, callers: [lastID: caller])
    return Joined(id: lastID, work: work, isNew: true)
  }

  /// Takes one caller out. The result is nil when it was told already.
  /// `abandoned` is the work where nobody wants it any more: it left the table, and is to be cancelled.
  mutating func leave(_ key: Key, _ id: CallerID) -> (caller: Caller, abandoned: Work?)? {
    guard let caller = entries[key]?.callers.removeValue(forKey: id), let entry = entries[key] else { return nil }
    guard entry.callers.isEmpty else { return (caller, nil) }
    entries[key] = nil
    return (caller, entry.work)
  }

  /// Those who wait for this generation of the work, in the order they came.
  func callers(_ key: Key, generation: UInt64) -> [Caller] {
    guard let entry = entries[key], entry.generation == generation else { return [] }
    return entry.callers.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Changes what a caller is; the result is the work it waits for, nil when it was told already.
  mutating func update(_ key: Key, _ id: CallerID, _ change: (inout Caller) -> Void) -> Work? {
    guard var caller = entries[key]?.callers[id] else { return nil }
    change(&caller)
    entries[key]?.callers[id] = caller
    return entries[key]?.work
  }

  /// All running work, in no order.
  var works: [Work] { entries.values.map(\.work) }

  /// The work of `key`; nil where none runs.
  func work(of key: Key) -> Work? { entries[key]?.work }

  /// Everyone who waits for `key`, in no order.
  func callers(of key: Key) -> [Caller] { entries[key].map { Array($0.callers.values) } ?? [] }

  /// Takes out the callers that `isServed` accepts, in the order they came. Where none is left, the work leaves the
  /// table in the same step: who comes later makes a new one.
  mutating func settle(
    _ key: Key, generation: UInt64, where isServed: (Caller) -> Bool = { _ in true }
  ) -> (served: [Caller], isOver: Bool) {
    guard let entry = entries[key], entry.generation == generation else { return ([], true) }
    let served = entry.callers.filter { isServed($0.value) }
    for id in served.keys { entries[key]?.callers[id] = nil }
    let isOver = served.count == entry.callers.count
    if isOver { entries[key] = nil }
    return (served.sorted { $0.key < $1.key }.map(\.value), isOver)
  }
}
