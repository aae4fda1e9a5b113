import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct PriorityQueueTests {
  @Test func `The highest priority leaves first, and the oldest element within a priority`() {
    var line = NamedLine(("a", .low), ("b", .normal), ("c", .high), ("d", .normal), ("e", .low), ("f", .high))
    #expect(line.line.count == 6 && line.line.first == "c" && line.line.topPriority == .high)
    #expect(line.removeAll() == ["c", "f", "b", "d", "a", "e"])
    #expect(line.line.isEmpty && line.line.first == nil && line.line.topPriority == nil)
    let next = line.line.popFirst()
    #expect(next == nil)
  }

  @Test func `An element that changes its priority goes behind those that wait with it`() {
    var line = NamedLine(("a", .low), ("b", .low), ("c", .high), ("d", .normal))
    line.change("a", to: .high)
    line.change("c", to: .normal)
    line.change("b", to: .low)
    #expect(line.line.first == "a" && line.line.count == 4)
    #expect(line.removeAll() == ["a", "d", "c", "b"])
  }

  @Test func `A change to the same priority keeps the place`() {
    var line = NamedLine(("a", .normal), ("b", .normal))
    line.change("a", to: .normal)
    #expect(line.removeAll() == ["a", "b"])
  }

  @Test func `An element that has left can be neither changed nor removed, even after its place is used again`() {
    var line = NamedLine(("a", .normal), ("b", .normal))
    let first = line.line.popFirst()
    let old = line.places["a"]
    line.append("c", .low)
    line.change("a", to: .high)
    let removed = line.remove("a")
    #expect(first == "a" && removed == nil && old != line.places["c"])
    #expect(line.removeAll() == ["b", "c"])
  }

  @Test func `Equal elements wait separately`() {
    var line = PriorityQueue<String>()
    let (first, second) = (line.append("a", .normal), line.append("a", .normal))
    #expect(first != second && line.count == 2)
  }

  @Test(arguments: [["a"], ["b"], ["c"], ["a", "c"], ["b", "c"], ["c", "b", "a"]])
  func `Elements can be removed from both ends and from the middle`(removed: [String]) {
    var line = NamedLine(("a", .normal), ("b", .normal), ("c", .normal))
    let results = removed.map { line.remove($0) }
    line.append("d", .normal)
    #expect(results == removed)
    #expect(line.removeAll() == ["a", "b", "c", "d"].filter { !removed.contains($0) })
  }

  @Test func `The line behaves like a sorted list in random use`() {
    var random = SeededGenerator(seed: 12)
    var (line, list) = (NamedLine(), SortedList())

    for _ in 0..<50_000 {
      let element = "\(Int.random(in: 0..<40, using: &random))"
      let priority = Priority.allCases.randomElement(using: &random) ?? .normal
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where !list.contains(element):
        line.append(element, priority)
        list.append(element, priority)
      case 0, 1:
        line.change(element, to: priority)
        if list.contains(element) { list.change(element, to: priority) }
      case 2:
        let wasThere = list.remove(element)
        let removed = line.remove(element)
        #expect(removed == (wasThere ? element : nil))
      default:
        let expected = list.first
        let (first, popped) = (line.line.first, line.line.popFirst())
        #expect(first == expected && popped == expected)
        if let expected { list.remove(expected) }
      }
      #expect(line.line.count == list.entries.count)
    }
  }

  @Test func `A million changes of priority leave nothing behind`() {
    var line = PriorityQueue<Int>()
    let places = (0..<100).map { line.append($0, .low) }
    for number in 0..<1_000_000 {
      line.change(places[number % 100], to: (number / 100).isMultiple(of: 2) ? .high : .low)
    }
    #expect(line.count == 100)
    #expect((Mirror(reflecting: line).descendant("links", "slots") as? any Collection)?.count == 100)
    let elements = line.removeAll()
    #expect(elements == Array(0..<100))
  }
}

/// A line whose elements are known by their text.
private struct NamedLine {
  var line = PriorityQueue<String>()
  var places: [String: PriorityQueue<String>.Place] = [:]

  init(_ elements: (String, Priority)...) {
    for (element, priority) in elements { append(element, priority) }
  }

  mutating func append(_ element: String, _ priority: Priority) { places[element] = line.append(element, priority) }

  mutating func change(_ element: String, to priority: Priority) {
    if let place = places[element] { line.change(place, to: priority) }
  }

  mutating func remove(_ element: String) -> String? { places[element].flatMap { line.remove($0) } }

  mutating func removeAll() -> [String] { line.removeAll() }
}

/// A slow line whose correctness is evident.
private struct SortedList {
  var entries: [(element: String, priority: Priority)] = []

  var first: String? { entries.max { $0.priority < $1.priority }.flatMap { top in firstElement(of: top.priority) } }

  func contains(_ element: String) -> Bool { entries.contains { $0.element == element } }

  mutating func append(_ element: String, _ priority: Priority) { entries.append((element, priority)) }

  mutating func change(_ element: String, to priority: Priority) {
    guard !entries.contains(where: { $0 == (element, priority) }) else { return }
    remove(element)
    append(element, priority)
  }

  @discardableResult
  mutating func remove(_ element: String) -> Bool {
    let count = entries.count
    entries.removeAll { $0.element == element }
    return entries.count < count
  }

  private func firstElement(of priority: Priority) -> String? { entries.first { $0.priority == priority }?.element }
}
