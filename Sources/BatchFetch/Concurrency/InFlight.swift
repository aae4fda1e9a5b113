/// The table of jobs in flight and their callers. A plain value: its owner guards it with a lock, and acts on the
/// results after unlocking.
///
/// A caller is in the table exactly as long as it is owed an end. The thread that removes the caller delivers that end,
/// so that each caller gets exactly one, however many threads race.
struct InFlight<Key: Hashable & Sendable, Job: Sendable, Caller: Sendable>: Sendable {
  typealias CallerID = ObjectIdentifier

  private struct Member {
    let caller: Caller
    var demand: Demand
    /// The order in which callers joined.
    let order: UInt64
  }

  /// Jobs are found by their key. A job that waits for dependencies has none yet, and exactly one caller.
  private enum Place: Hashable {
    case keyed(Key)
    case keyless(CallerID)
  }

  private struct Entry {
    let generation: UInt64
    let job: Job
    var members: [CallerID: Member] = [:]
    private var pausedCount = 0
    /// The number of callers by priority: the highest is found without looking at all callers.
    private var counts = Array(repeating: 0, count: Priority.allCases.count)

    init(generation: UInt64, job: Job) {
      self.generation = generation
      self.job = job
    }

    var priority: Priority { Priority.allCases.last { counts[$0.rawValue] > 0 } ?? .normal }

    var inOrder: [(id: CallerID, member: Member)] {
      members.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value) }
    }

    func demand(revision: UInt64) -> JointDemand {
      JointDemand(priority: priority, isPaused: pausedCount == members.count, revision: revision)
    }

    mutating func join(_ member: Member, _ id: CallerID, revision: UInt64) -> Joined {
      add(member, id)
      return Joined(job: job, isNew: generation == member.order, demand: demand(revision: revision))
    }

    mutating func add(_ member: Member, _ id: CallerID) {
      members[id] = member
      counts[member.demand.priority.rawValue] += 1
      if member.demand.isPaused { pausedCount += 1 }
    }

    mutating func remove(_ id: CallerID) -> Member? {
      guard let member = members.removeValue(forKey: id) else { return nil }
      counts[member.demand.priority.rawValue] -= 1
      if member.demand.isPaused { pausedCount -= 1 }
      return member
    }
  }

  private var entries: [Place: Entry] = [:]
  private var places: [CallerID: Place] = [:]
  /// Numbers callers, generations and revisions.
  private var lastNumber: UInt64 = 0

  /// True if there are no jobs, and so no callers.
  var isEmpty: Bool { entries.isEmpty }
  /// The number of jobs.
  var count: Int { entries.count }
  /// All jobs, in no order.
  var jobs: [Job] { entries.values.map(\.job) }

  // MARK: Joining

  /// The place of a caller that has joined.
  struct Joined {
    let job: Job
    /// True if the job was made for this caller and must be started.
    let isNew: Bool
    let demand: JointDemand
  }

  /// Adds a caller to the job of `key`, which it makes for the first caller.
  ///
  /// - Parameter make: Makes the job. Its generation distinguishes it from later jobs of the same key: an abandoned job
  ///   that ends late never serves the callers of its successor.
  mutating func join(
    _ key: Key, _ caller: Caller, id: CallerID, demand: Demand = Demand(), make: (_ generation: UInt64) -> Job
  ) -> Joined {
    add(Member(caller: caller, demand: demand, order: nextNumber()), id, at: .keyed(key), make: make)
  }

  /// Adds a caller and its job, which waits for dependencies.
  mutating func wait(
    _ caller: Caller, id: CallerID, demand: Demand = Demand(), make: (_ generation: UInt64) -> Job
  ) -> Joined {
    add(Member(caller: caller, demand: demand, order: nextNumber()), id, at: .keyless(id), make: make)
  }

  /// Gives the job of a waiting caller its key. If there is a job of that key, the caller joins it, and its own job is
  /// dropped. Returns nil if the caller has left.
  mutating func assign(_ id: CallerID, to key: Key) -> Joined? {
    guard let waiting = entries.removeValue(forKey: .keyless(id)), let member = waiting.members[id] else { return nil }
    return add(member, id, at: .keyed(key)) { _ in waiting.job }
  }

  private mutating func add(
    _ member: Member, _ id: CallerID, at place: Place, make: (_ generation: UInt64) -> Job
  ) -> Joined {
    places[id] = place
    let revision = nextNumber()
    return entries[place, default: Entry(generation: member.order, job: make(member.order))]
      .join(member, id, revision: revision)
  }

  private mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Leaving

  /// The state after a caller has left.
  struct Left {
    /// The job, if this was its last caller. It has left the table and must be canceled.
    let abandoned: Job?
    /// The job and its new demand, if it has other callers.
    let remaining: (job: Job, demand: JointDemand)?
  }

  /// Removes one caller. Returns nil if it is not in the table.
  mutating func leave(_ id: CallerID) -> Left? {
    guard let place = places.removeValue(forKey: id), entries[place]?.remove(id) != nil, let entry = entries[place]
    else { return nil }
    guard entry.members.isEmpty else {
      let remaining = (entry.job, entry.demand(revision: nextNumber()))
      return Left(abandoned: nil, remaining: remaining)
    }
    entries[place] = nil
    return Left(abandoned: entry.job, remaining: nil)
  }

  /// Removes the jobs whose joint demand `isRemoved` accepts. Returns them, for they must be canceled, and their
  /// callers in the order they joined.
  mutating func remove(where isRemoved: (JointDemand) -> Bool = { _ in true }) -> (jobs: [Job], callers: [Caller]) {
    let removed = entries.filter { isRemoved($0.value.demand(revision: 0)) }
    for (place, entry) in removed {
      entries[place] = nil
      for id in entry.members.keys { places[id] = nil }
    }
    let members = removed.values.flatMap(\.members.values).sorted { $0.order < $1.order }
    return (removed.values.map(\.job), members.map(\.caller))
  }

  /// Removes those callers of a job that `isServed` accepts, and returns them in the order they joined. If none is
  /// left, the job leaves the table in the same step: a caller that joins later starts a new one.
  mutating func settle(
    _ key: Key, generation: UInt64, where isServed: (Caller) -> Bool = { _ in true }
  ) -> (served: [Caller], isOver: Bool) {
    guard entries[.keyed(key)]?.generation == generation, var entry = entries.removeValue(forKey: .keyed(key)) else {
      return ([], true)
    }
    let served = entry.inOrder.filter { isServed($0.member.caller) }
    let isOver = served.count == entry.members.count
    for (id, _) in served {
      places[id] = nil
      _ = entry.remove(id)
    }
    if !isOver { entries[.keyed(key)] = entry }
    return (served.map(\.member.caller), isOver)
  }

  // MARK: Demand

  /// Changes the demand of one caller. Returns its job and the new joint demand; nil if the caller is not in the table.
  mutating func change(_ id: CallerID, _ change: (inout Demand) -> Void) -> (job: Job, demand: JointDemand)? {
    guard let place = places[id], var member = entries[place]?.remove(id) else { return nil }
    change(&member.demand)
    entries[place]?.add(member, id)
    let revision = nextNumber()
    return entries[place].map { ($0.job, $0.demand(revision: revision)) }
  }

  /// Returns the job of a caller; nil if the caller is not in the table.
  func job(of id: CallerID) -> Job? { places[id].flatMap { entries[$0]?.job } }

  /// Returns the highest priority among the callers of a job; nil if the job has left the table.
  func priority(for key: Key, generation: UInt64) -> Priority? {
    entries[.keyed(key)].flatMap { $0.generation == generation ? $0.priority : nil }
  }

  /// Returns the callers of a job in the order they joined, and their highest priority; nil if the job has left the
  /// table.
  func waiting(for key: Key, generation: UInt64) -> (callers: [Caller], priority: Priority)? {
    guard let entry = entries[.keyed(key)], entry.generation == generation else { return nil }
    return (entry.inOrder.map(\.member.caller), entry.priority)
  }
}
