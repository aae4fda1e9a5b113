// Inlinable, because only then other modules get specialized code: without it, a batch of cached images took 1.6 times
// as long.

/// The table of jobs in flight and their callers. A plain value: its owner guards it with a lock, and acts on the
/// results after unlocking.
///
/// A caller is in the table until its outcome is claimed for delivery. The thread that removes the caller delivers it,
/// so that each caller gets exactly one, however many threads race.
@usableFromInline package struct JobTable<Key: Hashable & Sendable, Job: Sendable, Caller: Sendable>: Sendable {
  @usableFromInline package typealias CallerID = ObjectIdentifier

  /// Identifies one job. An abandoned job that ends late never serves the callers of a later job of the same key.
  @usableFromInline package struct JobID: Hashable, Sendable {
    @usableFromInline let key: SlotMap<Entry>.Key

    @inlinable init(key: SlotMap<Entry>.Key) { self.key = key }
  }

  @usableFromInline struct Member: Sendable {
    @usableFromInline let caller: Caller
    @usableFromInline let id: CallerID
    @usableFromInline var demand: Demand
    /// The order in which callers joined.
    @usableFromInline let order: UInt64

    @inlinable init(caller: Caller, id: CallerID, demand: Demand, order: UInt64) {
      (self.caller, self.id, self.demand, self.order) = (caller, id, demand, order)
    }
  }

  /// The job of a caller, and the place among the callers of that job.
  @usableFromInline struct Place: Sendable {
    @usableFromInline let job: JobID
    @usableFromInline let member: SlotMap<Member>.Key

    @inlinable init(job: JobID, member: SlotMap<Member>.Key) { (self.job, self.member) = (job, member) }
  }

  @usableFromInline struct Entry: Sendable {
    @usableFromInline let job: Job
    @usableFromInline let key: Key
    @usableFromInline var members = SlotMap<Member>()
    @usableFromInline var pausedCount = 0
    /// The number of callers by priority: the highest is found without looking at all callers.
    @usableFromInline var counts = Priority.Table<Int>(repeating: 0)

    @inlinable init(job: Job, key: Key) {
      self.job = job
      self.key = key
    }

    @inlinable var priority: Priority { Priority.allCases.last { counts[$0.rawValue] > 0 } ?? .normal }

    /// The callers in the order they joined.
    @inlinable var inOrder: [(key: SlotMap<Member>.Key, value: Member)] {
      let elements = members.elements
      return elements.count < 2 ? elements : elements.sorted { $0.value.order < $1.value.order }
    }

    @inlinable func demand(revision: UInt64) -> JointDemand {
      JointDemand(priority: priority, isPaused: pausedCount == members.count, revision: revision)
    }

    @inlinable mutating func add(_ member: Member) -> SlotMap<Member>.Key {
      count(member.demand, 1)
      return members.insert(member)
    }

    @inlinable mutating func remove(_ key: SlotMap<Member>.Key) -> Member? {
      guard let member = members.remove(key) else { return nil }
      count(member.demand, -1)
      return member
    }

    @inlinable mutating func change(_ key: SlotMap<Member>.Key, _ change: (inout Demand) -> Void) {
      guard var demand = members[key]?.demand else { return }
      count(demand, -1)
      change(&demand)
      count(demand, 1)
      members.update(key) { $0.demand = demand }
    }

    @inlinable mutating func count(_ demand: Demand, _ difference: Int) {
      counts[demand.priority.rawValue] += difference
      if demand.isPaused { pausedCount += difference }
    }
  }

  @usableFromInline var entries = SlotMap<Entry>()
  @usableFromInline var ids: [Key: JobID] = [:]
  @usableFromInline var places: [CallerID: Place] = [:]
  /// Numbers callers and revisions.
  @usableFromInline var lastNumber: UInt64 = 0

  /// Creates an empty table.
  @inlinable package init() {}

  /// True if there are no jobs, and so no callers.
  @inlinable var isEmpty: Bool { entries.count == 0 }
  /// The number of jobs.
  @inlinable package var count: Int { entries.count }
  /// All jobs, in no order.
  @inlinable var jobs: [Job] { entries.elements.map(\.value.job) }

  // MARK: Joining

  /// The place of a caller that has joined.
  @usableFromInline package struct Joined {
    @usableFromInline package let job: Job
    /// True if the job was made for this caller and must be started.
    @usableFromInline package let isNew: Bool
    @usableFromInline let demand: JointDemand

    @inlinable init(job: Job, isNew: Bool, demand: JointDemand) {
      (self.job, self.isNew, self.demand) = (job, isNew, demand)
    }
  }

  /// Adds a caller to the job of `key`, which it makes for the first caller.
  @inlinable package mutating func join(
    _ key: Key, _ caller: Caller, id: CallerID, demand: Demand = Demand(), make: (JobID) -> Job
  ) -> Joined {
    let member = Member(caller: caller, id: id, demand: demand, order: nextNumber())
    if let known = ids[key], let joined = add(member, to: known) { return joined }
    return insert(member, key, make)
  }

  @inlinable mutating func add(_ member: Member, to id: JobID) -> Joined? {
    guard let key = entries.update(id.key, { $0.add(member) }) else { return nil }
    places[member.id] = Place(job: id, member: key)
    let revision = nextNumber()
    return entries[id.key].map { Joined(job: $0.job, isNew: false, demand: $0.demand(revision: revision)) }
  }

  @inlinable mutating func insert(_ member: Member, _ key: Key, _ make: (JobID) -> Job) -> Joined {
    let id = JobID(key: entries.reserveKey())
    ids[key] = id
    var entry = Entry(job: make(id), key: key)
    places[member.id] = Place(job: id, member: entry.add(member))
    entries.set(entry, for: id.key)
    return Joined(job: entry.job, isNew: true, demand: entry.demand(revision: nextNumber()))
  }

  @inlinable mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Leaving

  /// The state after a caller has left.
  @usableFromInline package struct Left {
    /// The job, if this was its last caller. It has left the table and must be canceled.
    @usableFromInline package let abandoned: Job?
    /// The job and its new demand, if it has other callers.
    @usableFromInline package let remaining: (job: Job, demand: JointDemand)?

    @inlinable init(abandoned: Job?, remaining: (job: Job, demand: JointDemand)?) {
      (self.abandoned, self.remaining) = (abandoned, remaining)
    }
  }

  /// Removes one caller. Returns nil if it is not in the table.
  @inlinable package mutating func leave(_ id: CallerID) -> Left? {
    guard let place = places.removeValue(forKey: id) else { return nil }
    _ = entries.update(place.job.key) { $0.remove(place.member) }
    guard let entry = entries[place.job.key] else { return nil }
    guard entry.members.count == 0 else {
      let remaining = (entry.job, entry.demand(revision: nextNumber()))
      return Left(abandoned: nil, remaining: remaining)
    }
    remove(place.job)
    return Left(abandoned: entry.job, remaining: nil)
  }

  /// Removes the jobs whose joint demand `isRemoved` accepts. Returns them, for they must be canceled, and their
  /// callers in the order they joined.
  @inlinable package mutating func remove(where isRemoved: (JointDemand) -> Bool = { _ in true }) -> (
    jobs: [Job], callers: [Caller]
  ) {
    let removed = entries.elements.filter { isRemoved($0.value.demand(revision: 0)) }
    let members = removed.flatMap { $0.value.members.elements.map(\.value) }.sorted { $0.order < $1.order }
    for (key, _) in removed { remove(JobID(key: key)) }
    for member in members { places[member.id] = nil }
    return (removed.map(\.value.job), members.map(\.caller))
  }

  /// Removes those callers of a job that `isServed` accepts, and returns them in the order they joined. If none is
  /// left, the job leaves the table in the same step: a caller that joins later starts a new one.
  @inlinable package mutating func settle(
    _ id: JobID, where isServed: (Caller) -> Bool = { _ in true }
  ) -> (served: [Caller], isOver: Bool) {
    guard let members = entries[id.key]?.inOrder else { return ([], true) }
    let served = members.filter { isServed($0.value.caller) }
    for (_, member) in served { places[member.id] = nil }
    let isOver = served.count == members.count
    if isOver {
      remove(id)
    } else {
      for (key, _) in served { _ = entries.update(id.key) { $0.remove(key) } }
    }
    return (served.map(\.value.caller), isOver)
  }

  @inlinable mutating func remove(_ id: JobID) {
    if let key = entries.remove(id.key)?.key { ids[key] = nil }
  }

  // MARK: Demand

  /// Changes the demand of one caller. Returns its job and the new joint demand; nil if the caller is not in the table.
  @inlinable package mutating func change(_ id: CallerID, _ change: (inout Demand) -> Void) -> (
    job: Job, demand: JointDemand
  )? {
    guard let place = places[id] else { return nil }
    entries.update(place.job.key) { $0.change(place.member, change) }
    let revision = nextNumber()
    return entries[place.job.key].map { ($0.job, $0.demand(revision: revision)) }
  }

  /// Returns the job of a caller; nil if the caller is not in the table.
  @inlinable func job(of id: CallerID) -> Job? { places[id].flatMap { entries[$0.job.key]?.job } }

  /// Returns the combined demand of the callers of a job; nil if the job has left the table.
  @inlinable package func demand(of id: JobID) -> Demand? { entries[id.key].map { Demand($0.demand(revision: 0)) } }

  /// Returns the callers of a job in the order they joined, and their highest priority; nil if the job has left the
  /// table.
  @inlinable package func waiting(for id: JobID) -> (callers: [Caller], priority: Priority)? {
    entries[id.key].map { ($0.inOrder.map(\.value.caller), $0.priority) }
  }
}

/// The demand of one caller.
@usableFromInline package struct Demand: Equatable, Sendable {
  @usableFromInline package var priority: Priority
  /// True if the caller does not need the result for now.
  @usableFromInline package var isPaused: Bool

  @inlinable package init(priority: Priority = .normal, isPaused: Bool = false) {
    self.priority = priority
    self.isPaused = isPaused
  }
}

extension Demand {
  /// The demand of a caller who wants what all callers of `joint` want.
  @inlinable init(_ joint: JointDemand) { self.init(priority: joint.priority, isPaused: joint.isPaused) }
}

/// The combined demand of all callers of one job.
@usableFromInline package struct JointDemand: Equatable, Sendable {
  /// The highest priority among the callers.
  @usableFromInline var priority: Priority
  /// True if all callers have paused.
  @usableFromInline var isPaused: Bool
  /// Grows with each change. If two changes arrive in the wrong order, the one with the higher revision counts.
  @usableFromInline var revision: UInt64

  @inlinable init(priority: Priority = .normal, isPaused: Bool = false, revision: UInt64 = 0) {
    (self.priority, self.isPaused, self.revision) = (priority, isPaused, revision)
  }
}

// Inlinable for the reason given above.

/// Values that are found by the keys that they got when they were added: a slot map. A plain value.
///
/// It takes the place of a dictionary where each request needs many lookups. A lookup is an index into an array, and
/// values change in place. The key of a removed value finds nothing, even after its slot has been used again.
@usableFromInline struct SlotMap<Value: Sendable>: Sendable {
  /// Identifies one value, also after it has been removed.
  @usableFromInline struct Key: Hashable, Sendable {
    @usableFromInline let slot: Int
    @usableFromInline let number: UInt64

    @inlinable init(slot: Int, number: UInt64) { (self.slot, self.number) = (slot, number) }
  }

  @usableFromInline struct Slot: Sendable {
    /// The number of the current key; 0 in a free slot, which no key has.
    @usableFromInline var number: UInt64
    @usableFromInline var value: Value?

    @inlinable init(number: UInt64) { self.number = number }
  }

  @usableFromInline var slots: [Slot] = []
  @usableFromInline var freeSlots: [Int] = []
  @usableFromInline var lastNumber: UInt64 = 0
  /// The number of free slots above which an empty map gives back its memory.
  @inlinable static var keptSlots: Int { 64 }

  @inlinable init() {}

  /// The number of values.
  @inlinable var count: Int { slots.count - freeSlots.count }

  /// Adds a value, and returns its key.
  @inlinable mutating func insert(_ value: Value) -> Key {
    let key = reserveKey()
    slots[key.slot].value = value
    return key
  }

  /// Returns the key of a value that is set later.
  @inlinable mutating func reserveKey() -> Key {
    lastNumber += 1
    let key = Key(slot: freeSlots.popLast() ?? slots.count, number: lastNumber)
    let slot = Slot(number: lastNumber)
    if key.slot == slots.count { slots.append(slot) } else { slots[key.slot] = slot }
    return key
  }

  /// The value of a key; nil if it has been removed, or has not been set. Setting it to nil removes it. A value that is
  /// set after the removal is dropped.
  @inlinable subscript(key: Key) -> Value? {
    @inline(__always) get { contains(key) ? slots[key.slot].value : nil }
    // Changes the value in place. A setter would copy it first.
    @inline(__always) _modify {
      var none: Value?
      guard contains(key) else {
        yield &none
        return
      }
      yield &slots[key.slot].value
      if slots[key.slot].value == nil { free(key.slot) }
    }
  }

  /// Sets the value of a reserved key. Faster than the subscript, which allocates memory for each change.
  @inlinable mutating func set(_ value: Value, for key: Key) {
    if contains(key) { slots[key.slot].value = value }
  }

  /// Changes the value of a key in place, and returns the result of `body`; nil if there is no value. Faster than the
  /// subscript, which allocates memory for each change.
  @discardableResult
  @inlinable mutating func update<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
    guard contains(key), var value = slots[key.slot].value.take() else { return nil }
    defer { slots[key.slot].value = value }
    return body(&value)
  }

  /// Removes a value and returns it; nil if it has been removed before, or has not been set.
  @discardableResult
  @inlinable mutating func remove(_ key: Key) -> Value? {
    guard contains(key) else { return nil }
    let value = slots[key.slot].value.take()
    free(key.slot)
    return value
  }

  @inlinable mutating func free(_ slot: Int) {
    slots[slot].number = 0
    freeSlots.append(slot)
    if freeSlots.count == slots.count, slots.count > Self.keptSlots { (slots, freeSlots) = ([], []) }
  }

  /// All values with their keys, in no order.
  @inlinable var elements: [(key: Key, value: Value)] {
    var elements: [(key: Key, value: Value)] = []
    elements.reserveCapacity(count)
    for (index, slot) in slots.enumerated() {
      if let value = slot.value { elements.append((Key(slot: index, number: slot.number), value)) }
    }
    return elements
  }

  @inlinable func contains(_ key: Key) -> Bool { key.slot < slots.count && slots[key.slot].number == key.number }
}
