/// Who waits for what: a table of running work, each piece wanted by one or several callers. A plain value; its owner
/// guards it with a lock, and acts on the results after unlocking.
///
/// A caller is in the table exactly as long as it has to be told something. Whoever takes it out tells it. So each
/// caller hears exactly one end, whatever races with what.
struct InFlight<Key: Hashable, Work, Caller> {
  /// Names a caller as long as the table lives.
  typealias CallerID = UInt64

  private struct Waiting {
    let caller: Caller
    var priority: ThumbnailRequest.Priority
  }

  private struct Entry {
    let generation: UInt64
    let work: Work
    var callers: [CallerID: Waiting] = [:]
    /// How many callers there are of each priority: the highest is known without looking at all of them.
    var tally = Array(repeating: 0, count: ThumbnailRequest.Priority.allCases.count)

    var priority: ThumbnailRequest.Priority {
      ThumbnailRequest.Priority.allCases.last { tally[$0.rawValue] > 0 } ?? .normal
    }

    mutating func add(_ waiting: Waiting, _ id: CallerID) {
      callers[id] = waiting
      tally[waiting.priority.rawValue] += 1
    }

    mutating func remove(_ id: CallerID) -> Waiting? {
      guard let waiting = callers.removeValue(forKey: id) else { return nil }
      tally[waiting.priority.rawValue] -= 1
      return waiting
    }
  }

  private var entries: [Key: Entry] = [:]
  private var lastID: UInt64 = 0

  /// Whether nothing runs and nobody waits.
  var isEmpty: Bool { entries.isEmpty }
  /// The number of running pieces of work.
  var count: Int { entries.count }
  /// All running work, in no order.
  var works: [Work] { entries.values.map(\.work) }

  /// A place in the table.
  struct Joined {
    /// The caller's name, for ``leave(_:_:)``.
    let id: CallerID
    /// What the caller waits for now.
    let work: Work
    /// Whether the work was made for this caller, and has to be started.
    let isNew: Bool
    /// The highest priority of those who wait.
    let priority: ThumbnailRequest.Priority
  }

  /// Joins the work of `key`, or makes it. `make` gets the generation by which the work names itself later on, so that
  /// an abandoned piece of work, ending late, never answers for its successor.
  mutating func join(
    _ key: Key, _ caller: Caller, priority: ThumbnailRequest.Priority = .normal,
    make: (_ generation: UInt64) -> Work
  ) -> Joined {
    lastID += 1
    let isNew = entries[key] == nil
    let work = entries[key]?.work ?? make(lastID)
    let waiting = Waiting(caller: caller, priority: priority)
    entries[key, default: Entry(generation: lastID, work: work)].add(waiting, lastID)
    return Joined(id: lastID, work: work, isNew: isNew, priority: entries[key]?.priority ?? priority)
  }

  /// What is left when a caller went.
  struct Left {
    let caller: Caller
    /// The work, where nobody wants it any more: it left the table, and is to be cancelled.
    let abandoned: Work?
    /// The work that others still wait for, and the highest of their priorities.
    let remaining: (work: Work, priority: ThumbnailRequest.Priority)?
  }

  /// Takes one caller out. Nil when it was told already.
  mutating func leave(_ key: Key, _ id: CallerID) -> Left? {
    guard let waiting = entries[key]?.remove(id), let entry = entries[key] else { return nil }
    guard entry.callers.isEmpty else {
      return Left(caller: waiting.caller, abandoned: nil, remaining: (entry.work, entry.priority))
    }
    entries[key] = nil
    return Left(caller: waiting.caller, abandoned: entry.work, remaining: nil)
  }

  /// Changes how urgent it is for one caller. The result is its work with the highest priority of all who wait for it;
  /// nil when it was told already.
  mutating func setPriority(
    _ priority: ThumbnailRequest.Priority, _ key: Key, _ id: CallerID
  ) -> (work: Work, priority: ThumbnailRequest.Priority)? {
    guard var waiting = entries[key]?.remove(id) else { return nil }
    waiting.priority = priority
    entries[key]?.add(waiting, id)
    return entries[key].map { ($0.work, $0.priority) }
  }

  /// Those who wait for this generation of the work, in the order they came, and the highest of their priorities.
  func waiting(
    for key: Key, generation: UInt64
  ) -> (callers: [Caller], priority: ThumbnailRequest.Priority)? {
    guard let entry = entries[key], entry.generation == generation else { return nil }
    return (entry.callers.sorted { $0.key < $1.key }.map(\.value.caller), entry.priority)
  }

  /// Takes out the callers that `isServed` accepts, in the order they came. Where none is left, the work leaves the
  /// table in the same step: who comes later makes a new one.
  mutating func settle(
    _ key: Key, generation: UInt64, where isServed: (Caller) -> Bool = { _ in true }
  ) -> (served: [Caller], isOver: Bool) {
    guard let entry = entries[key], entry.generation == generation else { return ([], true) }
    let served = entry.callers.filter { isServed($0.value.caller) }.sorted { $0.key < $1.key }
    if served.count == entry.callers.count {
      entries[key] = nil
    } else {
      for (id, _) in served { _ = entries[key]?.remove(id) }
    }
    return (served.map(\.value.caller), entries[key] == nil)
  }
}
