/// Who waits for what: a table of running work, each piece wanted by one or several callers. A plain value; its owner
/// guards it with a lock, and acts on the results after unlocking.
///
/// A caller is in the table exactly as long as it has to be told something. Whoever takes it out tells it. So each
/// caller hears exactly one end, whatever races with what.
struct InFlight<Key: Hashable & Sendable, Work: Sendable, Caller: Sendable>: Sendable {
  /// Names a caller as long as the table lives.
  typealias CallerID = UInt64

  /// How one caller wants its work.
  struct Wish {
    var priority = ThumbnailRequest.Priority.normal
    /// Whether it can do without for now.
    var isPaused = false
  }

  /// How all callers of one piece of work want it together.
  struct CommonWish: Equatable {
    /// The highest priority of all.
    var priority: ThumbnailRequest.Priority
    /// Whether all of them can do without for now.
    var isPaused: Bool
    /// Grows with each change: of two wishes that arrive in the wrong order, the later one counts.
    var revision: UInt64
  }

  private struct Waiting {
    let caller: Caller
    var wish: Wish
  }

  private struct Entry {
    let generation: UInt64
    let work: Work
    var callers: [CallerID: Waiting] = [:]
    private var paused = 0
    /// How many callers there are of each priority: the highest is known without looking at all of them.
    private var tally = Array(repeating: 0, count: ThumbnailRequest.Priority.allCases.count)

    init(generation: UInt64, work: Work) {
      self.generation = generation
      self.work = work
    }

    var priority: ThumbnailRequest.Priority {
      ThumbnailRequest.Priority.allCases.last { tally[$0.rawValue] > 0 } ?? .normal
    }

    func wish(revision: UInt64) -> CommonWish {
      CommonWish(priority: priority, isPaused: paused == callers.count, revision: revision)
    }

    mutating func join(_ waiting: Waiting, _ id: CallerID) -> Joined {
      add(waiting, id)
      return Joined(id: id, work: work, isNew: id == generation, wish: wish(revision: id))
    }

    mutating func add(_ waiting: Waiting, _ id: CallerID) {
      callers[id] = waiting
      tally[waiting.wish.priority.rawValue] += 1
      if waiting.wish.isPaused { paused += 1 }
    }

    mutating func remove(_ id: CallerID) -> Waiting? {
      guard let waiting = callers.removeValue(forKey: id) else { return nil }
      tally[waiting.wish.priority.rawValue] -= 1
      if waiting.wish.isPaused { paused -= 1 }
      return waiting
    }
  }

  private var entries: [Key: Entry] = [:]
  /// Names callers, generations and revisions.
  private var lastID: UInt64 = 0

  /// Whether nothing runs and nobody waits.
  var isEmpty: Bool { entries.isEmpty }
  /// The number of running pieces of work.
  var count: Int { entries.count }
  /// All running work, in no order.
  var works: [Work] { entries.values.map(\.work) }

  /// All who wait, in no order.
  var callers: [Caller] { entries.values.flatMap { $0.callers.values.map(\.caller) } }

  /// A place in the table.
  struct Joined {
    /// The caller's name, for ``leave(_:_:)``.
    let id: CallerID
    /// What the caller waits for now.
    let work: Work
    /// Whether the work was made for this caller, and has to be started.
    let isNew: Bool
    /// What those who wait want together.
    let wish: CommonWish
  }

  /// Joins the work of `key`, or makes it. `make` gets the generation by which the work names itself later on, so that
  /// an abandoned piece of work, ending late, never answers for its successor.
  mutating func join(
    _ key: Key, _ caller: Caller, wish: Wish = Wish(), make: (_ generation: UInt64) -> Work
  ) -> Joined {
    lastID += 1
    let id = lastID
    return entries[key, default: Entry(generation: id, work: make(id))].join(Waiting(caller: caller, wish: wish), id)
  }

  /// What is left when a caller went.
  struct Left {
    let caller: Caller
    /// The work, where nobody wants it any more: it left the table, and is to be cancelled.
    let abandoned: Work?
    /// The work that others still wait for, and how they want it.
    let remaining: (work: Work, wish: CommonWish)?
  }

  /// Takes one caller out. Nil when it was told already.
  mutating func leave(_ key: Key, _ id: CallerID) -> Left? {
    guard let waiting = entries[key]?.remove(id), let entry = entries[key] else { return nil }
    guard entry.callers.isEmpty else {
      lastID += 1
      return Left(caller: waiting.caller, abandoned: nil, remaining: (entry.work, entry.wish(revision: lastID)))
    }
    entries[key] = nil
    return Left(caller: waiting.caller, abandoned: entry.work, remaining: nil)
  }

  /// Takes everything out: all work, which is to be cancelled, and all who waited, in the order they came.
  mutating func removeAll() -> (abandoned: [Work], callers: [Caller]) {
    defer { entries = [:] }
    let callers = entries.values.flatMap(\.callers).sorted { $0.key < $1.key }
    return (works, callers.map(\.value.caller))
  }

  /// Changes how one caller wants its work. The result is the work, and how all who wait for it want it; nil when the
  /// caller was told already.
  mutating func change(
    _ key: Key, _ id: CallerID, _ change: (inout Wish) -> Void
  ) -> (work: Work, wish: CommonWish)? {
    guard var waiting = entries[key]?.remove(id) else { return nil }
    change(&waiting.wish)
    entries[key]?.add(waiting, id)
    lastID += 1
    return entries[key].map { ($0.work, $0.wish(revision: lastID)) }
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
    guard let index = entries.index(forKey: key), entries.values[index].generation == generation else {
      return ([], true)
    }
    let callers = entries.values[index].callers
    let served = callers.sorted { $0.key < $1.key }.filter { isServed($0.value.caller) }
    let isOver = served.count == callers.count
    if isOver {
      entries.remove(at: index)
    } else {
      for (id, _) in served { _ = entries.values[index].remove(id) }
    }
    return (served.map(\.value.caller), isOver)
  }
}
