import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct SlotMapTests {
  @Test func `A value is found and changed by its key`() {
    var map = SlotMap<[String]>()
    let (a, b) = (map.insert(["a"]), map.insert(["b"]))
    map[a]?.append("c")
    #expect(map[a] == ["a", "c"] && map[b] == ["b"] && map.count == 2)
    #expect(Set(map.elements.map(\.key)) == [a, b])
  }

  @Test func `The key of a removed value finds nothing, even after its slot has been used again`() {
    var map = SlotMap<Int>()
    let old = map.insert(1)
    let removed = [map.remove(old), map.remove(old)]
    map[old] = 3
    #expect(map[old] == nil && map.elements.isEmpty && map.count == 0)
    let new = map.insert(2)
    map[old] = 3
    let again = map.remove(old)
    #expect(removed == [1, nil] && again == nil)
    #expect(old != new && map[old] == nil && map[new] == 2 && map.elements.map(\.key) == [new])
  }

  @Test func `A value that is set to nil is removed`() {
    var map = SlotMap<Int>()
    let old = map.insert(1)
    map[old] = nil
    let new = map.insert(2)
    #expect(map.count == 1 && map[old] == nil && map.elements.map(\.key) == [new])
    #expect(slotCount(of: map) == 1)
  }

  @Test func `A value is changed by a closure, unless it was removed or has not been set`() {
    var map = SlotMap<[Int]>()
    let (a, b, reserved) = (map.insert([1]), map.insert([2]), map.reserveKey())
    map.remove(b)
    let counts = [a, b, reserved].map { key in
      map.update(key) { value in
        value.append(3)
        return value.count
      }
    }
    map.set([4], for: reserved)
    map.set([5], for: b)
    #expect(counts == [2, nil, nil] && map[a] == [1, 3] && map[b] == nil && map[reserved] == [4])
  }

  @Test func `A value that a closure changes is not copied`() {
    var map = SlotMap<[Int]>()
    let key = map.insert(Array(0..<100))
    let before = map[key]?.withUnsafeBufferPointer { $0.baseAddress }
    map.update(key) { $0[50] = -1 }
    #expect(map[key]?.withUnsafeBufferPointer { $0.baseAddress } == before && map[key]?[50] == -1)
  }

  @Test func `A reserved key finds its value once that is set, and can be given back without one`() {
    var map = SlotMap<Int>()
    let (set, unset) = (map.reserveKey(), map.reserveKey())
    map[set] = 1
    let removed = map.remove(unset)
    #expect(removed == nil && map[set] == 1 && map.count == 1)
    _ = map.insert(2)
    #expect(slotCount(of: map) == 2)
  }

  @Test func `A value that changes in place is not copied`() {
    var map = SlotMap<[Int]>()
    let key = map.insert(Array(0..<100))
    let before = map[key]?.withUnsafeBufferPointer { $0.baseAddress }
    map[key]?[50] = -1
    #expect(map[key]?.withUnsafeBufferPointer { $0.baseAddress } == before && map[key]?[50] == -1)
  }

  @Test(arguments: [1, 64, 65, 1000])
  func `A map that becomes empty can be filled again`(count: Int) {
    var map = SlotMap<Int>()
    let old = (0..<count).map { map.insert($0) }
    for key in old { map.remove(key) }
    let new = (0..<count).map { map.insert($0 + 1) }
    #expect(map.count == count && old.allSatisfy { map[$0] == nil })
    #expect(new.map { map[$0] } == (1...count).map { $0 })
  }

  @Test func `Values that come and go use as many slots as there are values at a time`() {
    var map = SlotMap<Int>()
    var keys = (0..<100).map { map.insert($0) }
    for number in 0..<100_000 {
      map.remove(keys[number % 100])
      keys[number % 100] = map.insert(number)
    }
    #expect(map.count == 100 && slotCount(of: map) == 100)
  }

  private func slotCount(of map: SlotMap<Int>) -> Int? {
    (Mirror(reflecting: map).descendant("slots") as? any Collection)?.count
  }
}
