import TestSupport
import Testing

@testable import BatchFetch

/// The places of a batch's hosts.
@Suite struct BatchHostsTests {
  /// Returns the places of one host after it was offered `count` elements: 0, 1 and so on.
  private func hosts(limit: Int, offered count: Int) -> BatchHosts<Int> {
    var hosts = BatchHosts<Int> { _ in limit }
    for element in 0..<count { _ = hosts.begin(element, of: "a", priority: .normal, share: .all) }
    return hosts
  }

  @Test func `A host has no more elements in flight than its limit, whatever the other hosts have`() {
    var hosts = BatchHosts<Int> { _ in 2 }

    let begun = ["a", "a", "a", "b", "a", "b"].enumerated().map { element, host in
      hosts.begin(element, of: host, priority: .normal, share: .all)
    }

    #expect(begun == [true, true, false, true, false, true])
    #expect(hosts.parkedCount == 2)
  }

  @Test func `Each host has its own limit`() {
    var hosts = BatchHosts<Int> { $0 == "cdn.test" ? 3 : 1 }

    let begun = (0..<4).map { hosts.begin($0, of: "cdn.test", priority: .normal, share: .all) }
    let others = (4..<6).map { hosts.begin($0, of: "a.test", priority: .normal, share: .all) }

    #expect(begun == [true, true, true, false] && others == [true, false])
  }

  @Test func `Parked elements begin by priority, and then in the order in which they were parked`() {
    var hosts = hosts(limit: 1, offered: 1)
    let priorities: [Priority] = [.low, .normal, .high, .normal, .high, .low]
    for (element, priority) in priorities.enumerated() {
      _ = hosts.begin(element, of: "a", priority: priority, share: .all)
    }

    let next = (0..<7).map { _ in hosts.end("a", isCached: false, room: 9, share: .all) }

    #expect(next == [[2], [4], [1], [3], [0], [5], []])
    #expect(hosts.parkedCount == 0)
  }

  @Test func `A host is refilled when more than an eighth of its places is free`() {
    var hosts = hosts(limit: 16, offered: 40)

    let next = (0..<9).map { _ in hosts.end("a", isCached: false, room: 40, share: .all) }

    #expect(next == [[], [], [16, 17, 18], [], [], [19, 20, 21], [], [], [22, 23, 24]])
  }

  @Test func `No more parked elements begin than there is room for`() {
    var hosts = hosts(limit: 16, offered: 40)

    let next = (0..<4).map { _ in hosts.end("a", isCached: false, room: 1, share: .all) }

    #expect(next == [[], [], [16], [17]])
  }

  @Test func `A host has eight times as many elements in flight while they need no request`() {
    var hosts = hosts(limit: 16, offered: 200)

    let cached = (0..<18).map { _ in hosts.end("a", isCached: true, room: 200, share: .all).count }
    let requested = (0..<116).map { _ in hosts.end("a", isCached: false, room: 200, share: .all).count }

    #expect(cached == [113] + Array(repeating: 0, count: 16) + [17])
    #expect(requested.firstIndex { $0 > 0 } == 114 && requested[114] == 3)
  }

  @Test func `An element does not overtake those of its host that are parked`() {
    var hosts = hosts(limit: 16, offered: 17)
    _ = hosts.end("a", isCached: false, room: 1, share: .all)

    let isBegun = hosts.begin(17, of: "a", priority: .normal, share: .all)

    #expect(!isBegun && hosts.parkedCount == 2)
  }

  @Test(arguments: [(24, [24, 6, 1]), (2, [2, 1, 1])])
  func `A host takes a quarter of its places or only one if it gets no more of them`(limit: Int, counts: [Int]) {
    let shares: [BatchHosts<Int>.Share] = [.all, .quarter, .one]

    let begun = shares.map { share in
      var hosts = BatchHosts<Int> { _ in limit }
      return (0..<100).count { hosts.begin($0, of: "a", priority: .normal, share: share) }
    }

    #expect(begun == counts)
  }

  @Test func `A host that exceeds its share begins no parked element until enough others have ended`() {
    var hosts = hosts(limit: 24, offered: 40)

    let next = (0..<20).map { _ in hosts.end("a", isCached: false, room: 1, share: .quarter).count }

    #expect(next.firstIndex(of: 1) == 18 && next[19] == 1)
  }

  @Test func `All parked elements can be removed`() {
    var hosts = hosts(limit: 2, offered: 5)
    for element in 5..<9 { _ = hosts.begin(element, of: "b", priority: .low, share: .all) }

    let removed = hosts.removeAll()
    let next = hosts.end("a", isCached: false, room: 9, share: .all)

    #expect(removed.sorted() == [2, 3, 4, 7, 8])
    #expect(hosts.parkedCount == 0 && next.isEmpty)
  }

  @Test(arguments: [1, 2, 7, 24]) func `Every element begins exactly once, and no host exceeds its limit`(limit: Int) {
    var (hosts, random) = (BatchHosts<Int> { _ in limit }, SeededGenerator(seed: 7))
    let names = (0..<5000).map { _ in "\(Int.random(in: 0..<9, using: &random))" }
    var (inFlight, begun): ([String], [Int]) = ([], [])
    var offered = 0

    while offered < names.count || !inFlight.isEmpty {
      if offered < names.count, Int.random(in: 0..<3, using: &random) > 0 {
        let isBegun = hosts.begin(offered, of: names[offered], priority: .normal, share: .all)
        if isBegun { begun.append(offered) }
        if isBegun { inFlight.append(names[offered]) }
        offered += 1
      } else if let index = inFlight.indices.randomElement(using: &random) {
        let next = hosts.end(
          inFlight.remove(at: index), isCached: false, room: Int.random(in: 1..<9, using: &random), share: .all)
        begun += next
        inFlight += next.map { names[$0] }
      }
      #expect(inFlight.count { $0 == "0" } <= limit)
    }

    #expect(begun.sorted() == Array(names.indices) && hosts.parkedCount == 0)
  }
}
