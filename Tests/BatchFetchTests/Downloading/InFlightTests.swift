import Testing

@testable import BatchFetch

@Suite struct InFlightTests {
  private typealias Table = InFlight<String, Int, String>
  private var table = Table()

  @Test mutating func `The first caller makes the work and the second one joins it`() {
    let first = table.join("k", "a") { _ in 7 }
    let second = table.join("k", "b") { _ in 8 }
    #expect(first.isNew && first.work == 7)
    #expect(!second.isNew && second.work == 7)
    #expect(table.count == 1)
  }

  @Test mutating func `Only the last caller to leave abandons the work`() {
    let first = table.join("k", "a") { _ in 7 }
    let second = table.join("k", "b") { _ in 8 }
    let left = table.leave("k", first.id)
    #expect(left?.caller == "a" && left?.abandoned == nil)
    let last = table.leave("k", second.id)
    #expect(last?.caller == "b" && last?.abandoned == 7)
    #expect(table.isEmpty)
  }

  @Test mutating func `Nobody leaves twice`() {
    let first = table.join("k", "a") { _ in 7 }
    _ = table.join("k", "b") { _ in 7 }
    let once = table.leave("k", first.id)
    let twice = table.leave("k", first.id)
    #expect(once != nil && twice == nil)
  }

  @Test mutating func `Everything taken out leaves nothing that could be told again`() {
    let first = table.join("k", "a") { _ in 7 }
    _ = table.join("l", "b") { _ in 8 }
    _ = table.join("k", "c") { _ in 9 }
    let taken = table.removeAll()
    #expect(taken.abandoned.sorted() == [7, 8] && taken.callers == ["a", "b", "c"])
    #expect(table.isEmpty && table.leave("k", first.id) == nil)
  }

  @Test mutating func `Nobody leaves after being served`() {
    var generation: UInt64 = 0
    let first = table.join("k", "a") {
      generation = $0
      return 7
    }
    let served = table.settle("k", generation: generation).served
    let left = table.leave("k", first.id)
    #expect(served == ["a"] && left == nil)
    #expect(table.isEmpty)
  }

  @Test mutating func `An abandoned work that ends late serves nobody of its successor`() {
    var generations: [UInt64] = []
    let first = table.join("k", "a") {
      generations.append($0)
      return 7
    }
    _ = table.leave("k", first.id)
    let second = table.join("k", "b") {
      generations.append($0)
      return 8
    }
    #expect(second.isNew && second.work == 8)
    let late = table.settle("k", generation: generations[0]).served
    let own = table.settle("k", generation: generations[1]).served
    #expect(late.isEmpty && own == ["b"])
  }

  @Test mutating func `Callers are served in the order they came, and the rest keeps the work alive`() {
    var generation: UInt64 = 0
    for caller in ["a1", "b1", "a2", "b2"] {
      _ = table.join("k", caller) {
        generation = $0
        return 7
      }
    }
    let some = table.settle("k", generation: generation) { $0.hasPrefix("a") }
    #expect(some.served == ["a1", "a2"] && !some.isOver)
    let rest = table.settle("k", generation: generation)
    #expect(rest.served == ["b1", "b2"] && rest.isOver)
    #expect(table.isEmpty)
  }

  @Test mutating func `The highest priority of those who wait counts`() {
    let low = table.join("k", "a", wish: .init(priority: .low)) { _ in 7 }
    let high = table.join("k", "b", wish: .init(priority: .high)) { _ in 7 }
    #expect(low.wish.priority == .low && high.wish.priority == .high)
    let raised = table.change("k", low.id) { $0.priority = .normal }
    #expect(raised?.wish.priority == .high)
    let left = table.leave("k", high.id)
    #expect(left?.remaining?.wish.priority == .normal)
    let late = table.change("k", high.id) { $0.priority = .high }
    #expect(late == nil)
  }

  @Test mutating func `The work is paused while all who wait for it have paused`() {
    let first = table.join("k", "a") { _ in 7 }
    let alone = table.change("k", first.id) { $0.isPaused = true }?.wish
    let second = table.join("k", "b") { _ in 8 }
    let both = table.change("k", second.id) { $0.isPaused = true }?.wish
    let third = table.join("k", "c") { _ in 9 }
    let left = table.leave("k", third.id)?.remaining?.wish
    let resumed = table.change("k", first.id) { $0.isPaused = false }?.wish
    let wishes = [alone, second.wish, both, third.wish, left, resumed].compactMap { $0 }
    #expect(wishes.map(\.isPaused) == [true, false, true, false, true, false])
    #expect(wishes.map(\.revision) == wishes.map(\.revision).sorted())
    #expect(Set(wishes.map(\.revision)).count == wishes.count)
  }
}
