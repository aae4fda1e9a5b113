import Testing

@testable import Downloads

@Suite struct JobTableTests {
  private typealias Table = JobTable<String, Int, String>

  /// A caller in the table: a name, and an identity.
  private final class Caller {
    let name: String
    var id: ObjectIdentifier { ObjectIdentifier(self) }
    init(_ name: String) { self.name = name }
  }

  private var table = Table()
  private let a = Caller("a")
  private let b = Caller("b")
  private let c = Caller("c")

  private mutating func join(
    _ key: String, _ caller: Caller, _ priority: Priority = .normal, job: Int = 7
  ) -> Table.Joined {
    table.join(key, caller.name, id: caller.id, demand: Demand(priority: priority)) { _ in job }
  }

  /// Joins with a new job, and returns its identity.
  private mutating func newJob(_ key: String, _ caller: Caller) throws -> Table.JobID {
    var id: Table.JobID?
    _ = table.join(key, caller.name, id: caller.id) {
      id = $0
      return 7
    }
    return try #require(id)
  }

  // MARK: Joining

  @Test mutating func `The first caller makes the job and the second one joins it`() {
    let first = join("k", a)
    let second = join("k", b, job: 8)

    #expect(first.isNew && first.job == 7)
    #expect(!second.isNew && second.job == 7)
    #expect(table.count == 1)
  }

  // MARK: Leaving

  @Test mutating func `Only the last caller to leave abandons the job`() {
    _ = join("k", a)
    _ = join("k", b)
    let left = table.leave(a.id)
    let last = table.leave(b.id)

    #expect(left?.abandoned == nil && left?.remaining?.job == 7)
    #expect(last?.abandoned == 7 && last?.remaining == nil)
    #expect(table.isEmpty)
  }

  @Test mutating func `A caller leaves once`() {
    _ = join("k", a)
    _ = join("k", b)
    let once = table.leave(a.id)
    let twice = table.leave(a.id)

    #expect(once != nil && twice == nil)
  }

  @Test mutating func `Removing everything returns the jobs, and the callers in the order they joined`() {
    _ = join("k", a)
    _ = join("l", b, job: 8)
    _ = join("k", c)
    let removed = table.remove()
    let left = table.leave(a.id)

    #expect(removed.jobs.sorted() == [7, 8] && removed.callers == ["a", "b", "c"])
    #expect(table.isEmpty && left == nil)
  }

  @Test mutating func `Only jobs with the given demand are removed`() {
    _ = join("k", a)
    _ = join("l", b, job: 8)
    _ = table.change(b.id) { $0.isPaused = true }
    let removed = table.remove { $0.isPaused }

    #expect(removed.jobs == [8] && removed.callers == ["b"])
    #expect(table.jobs == [7])
  }

  // MARK: Settling

  @Test mutating func `A caller that was served cannot leave`() throws {
    let job = try newJob("k", a)
    let served = table.settle(job).served
    let left = table.leave(a.id)

    #expect(served == ["a"] && left == nil)
    #expect(table.isEmpty)
  }

  @Test mutating func `An abandoned job that ends late serves no caller of its successor`() throws {
    let old = try newJob("k", a)
    _ = table.leave(a.id)
    let new = try newJob("k", b)
    let late = table.settle(old).served
    let own = table.settle(new).served

    #expect(late.isEmpty && own == ["b"])
  }

  @Test mutating func `Callers are served in the order they joined, and those that remain keep the job alive`() throws {
    let job = try newJob("k", a)
    _ = join("k", b)
    _ = join("k", c)
    let some = table.settle(job) { $0 != "b" }
    let rest = table.settle(job)

    #expect(some.served == ["a", "c"] && !some.isOver)
    #expect(rest.served == ["b"] && rest.isOver)
    #expect(table.isEmpty)
  }

  // MARK: Demand

  @Test mutating func `The highest priority among the callers counts`() {
    let low = join("k", a, .low)
    let high = join("k", b, .high)
    let raised = table.change(a.id) { $0.priority = .normal }
    let left = table.leave(b.id)
    let late = table.change(b.id) { $0.priority = .high }

    #expect(low.demand.priority == .low && high.demand.priority == .high)
    #expect(raised?.demand.priority == .high)
    #expect(left?.remaining?.demand.priority == .normal)
    #expect(late == nil)
  }

  @Test mutating func `A job is paused while all of its callers have paused`() {
    _ = join("k", a)
    let alone = table.change(a.id) { $0.isPaused = true }?.demand
    let second = join("k", b).demand
    let both = table.change(b.id) { $0.isPaused = true }?.demand
    let third = join("k", c).demand
    let left = table.leave(c.id)?.remaining?.demand
    let resumed = table.change(a.id) { $0.isPaused = false }?.demand

    let demands = [alone, second, both, third, left, resumed].compactMap { $0 }
    #expect(demands.map(\.isPaused) == [true, false, true, false, true, false])
    #expect(demands.map(\.revision) == demands.map(\.revision).sorted())
    #expect(Set(demands.map(\.revision)).count == demands.count)
  }
}
