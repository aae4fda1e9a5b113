import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(5))) struct PriorityLineTests {
  private static func line(_ elements: (String, Priority)...) -> PriorityLine<String> {
    var line = PriorityLine<String>()
    for (element, priority) in elements { line.append(element, priority) }
    return line
  }

  @Test func `The highest priority leaves first, and the oldest element within a priority`() {
    var line = Self.line(("a", .low), ("b", .normal), ("c", .high), ("d", .normal), ("e", .low), ("f", .high))
    #expect(line.count == 6 && line.first == "c" && line.topPriority == .high)
    #expect(line.removeAll() == ["c", "f", "b", "d", "a", "e"])
    #expect(line.isEmpty && line.first == nil && line.topPriority == nil)
    #expect(line.popFirst() == nil)
  }

  @Test func `An element that changes its priority goes behind those that wait with it`() {
    var line = Self.line(("a", .low), ("b", .low), ("c", .high), ("d", .normal))
    line.change("a", to: .high)
    line.change("c", to: .normal)
    line.change("b", to: .low)
    #expect(line.first == "a" && line.count == 4)
    #expect(line.removeAll() == ["a", "d", "c", "b"])
  }

  @Test func `A change to the same priority keeps the place`() {
    var line = Self.line(("a", .normal), ("b", .normal))
    line.change("a", to: .normal)
    #expect(line.removeAll() == ["a", "b"])
  }

  @Test func `An element that is not in the line can be neither changed nor removed`() {
    var line = Self.line(("a", .normal), ("b", .normal))
    #expect(line.popFirst() == "a")
    line.change("a", to: .high)
    #expect(["a", "x"].map { line.remove($0) } == [false, false])
    #expect(line.removeAll() == ["b"])
  }

  @Test func `An element that is added again changes its priority, and is in the line once`() {
    var line = Self.line(("a", .low), ("b", .low), ("a", .high), ("b", .low))
    #expect(line.count == 2)
    #expect(line.removeAll() == ["a", "b"])
  }

  @Test(arguments: [["a"], ["b"], ["c"], ["a", "c"], ["b", "c"], ["c", "b", "a"]])
  func `Elements can be removed from both ends and from the middle`(removed: [String]) {
    var line = Self.line(("a", .normal), ("b", .normal), ("c", .normal))
    #expect(removed.allSatisfy { line.remove($0) })
    line.append("d", .normal)
    #expect(line.removeAll() == ["a", "b", "c", "d"].filter { !removed.contains($0) })
  }

  @Test func `The line behaves like a sorted list in random use`() {
    var random = SeededGenerator(seed: 12)
    var (line, list) = (PriorityLine<Int>(), SortedList())

    for _ in 0..<50_000 {
      let element = Int.random(in: 0..<40, using: &random)
      let priority = Priority.allCases.randomElement(using: &random) ?? .normal
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        line.append(element, priority)
        if !list.contains(element) { list.append(element, priority) } else { list.change(element, to: priority) }
      case 1:
        line.change(element, to: priority)
        if list.contains(element) { list.change(element, to: priority) }
      case 2:
        let wasThere = list.remove(element)
        #expect(line.remove(element) == wasThere)
      default:
        let expected = list.first
        #expect(line.first == expected)
        #expect(line.popFirst() == expected)
        if let expected { list.remove(expected) }
      }
      #expect(line.count == list.entries.count)
    }
  }

  @Test func `A million changes of priority leave nothing behind`() {
    var line = PriorityLine<Int>()
    for element in 0..<100 { line.append(element, .low) }
    for number in 0..<1_000_000 { line.change(number % 100, to: (number / 100).isMultiple(of: 2) ? .high : .low) }
    #expect(line.count == 100)
    #expect(Mirror(reflecting: line).children.compactMap { ($0.value as? any Collection)?.count } == [100, 3])
    #expect(line.removeAll() == Array(0..<100))
  }
}

/// A slow line whose correctness is evident.
private struct SortedList {
  var entries: [(element: Int, priority: Priority)] = []

  var first: Int? { entries.max { $0.priority < $1.priority }.flatMap { top in firstElement(of: top.priority) } }

  func contains(_ element: Int) -> Bool { entries.contains { $0.element == element } }

  mutating func append(_ element: Int, _ priority: Priority) { entries.append((element, priority)) }

  mutating func change(_ element: Int, to priority: Priority) {
    guard !entries.contains(where: { $0 == (element, priority) }) else { return }
    remove(element)
    append(element, priority)
  }

  @discardableResult
  mutating func remove(_ element: Int) -> Bool {
    let count = entries.count
    entries.removeAll { $0.element == element }
    return entries.count < count
  }

  private func firstElement(of priority: Priority) -> Int? { entries.first { $0.priority == priority }?.element }
}
