/// The best result of any policy with this capacity: evict the key that is requested furthest in the future (Belady
/// 1966), or do not keep the new one if that is the furthest.
enum Optimum {
  static func hits(_ trace: [Int], _ capacity: Int) -> Int {
    let nextUses = nextUses(trace)
    var uses = Heap()
    var resident: [Int: Int] = [:]
    var hits = 0
    for (time, key) in trace.enumerated() {
      if resident[key] != nil { hits += 1 }
      resident[key] = nextUses[time]
      uses.insert((nextUses[time], key))
      while resident.count > capacity, let furthest = uses.removeLargest() {
        if resident[furthest.key] == furthest.time { resident[furthest.key] = nil }
      }
    }
    return hits
  }

  /// Returns the time of the next request of the same key for each request.
  private static func nextUses(_ trace: [Int]) -> [Int] {
    var next: [Int: Int] = [:]
    var result = [Int](repeating: 0, count: trace.count)
    for time in trace.indices.reversed() {
      // Keys that are never requested again get different times, so that each has its own place in the heap.
      result[time] = next.updateValue(time, forKey: trace[time]) ?? trace.count + time
    }
    return result
  }

  /// A binary heap with the largest time on top. Outdated uses stay until they are removed from the top.
  private struct Heap {
    typealias Use = (time: Int, key: Int)
    private var uses: [Use] = []

    mutating func insert(_ use: Use) {
      uses.append(use)
      var place = uses.count - 1
      while place > 0, uses[place].time > uses[(place - 1) / 2].time {
        uses.swapAt(place, (place - 1) / 2)
        place = (place - 1) / 2
      }
    }

    mutating func removeLargest() -> Use? {
      guard let largest = uses.first, let last = uses.popLast() else { return nil }
      guard !uses.isEmpty else { return largest }
      uses[0] = last
      var place = 0
      while let child = [2 * place + 1, 2 * place + 2].filter({ $0 < uses.count }).max(by: {
        uses[$0].time < uses[$1].time
      }),
        uses[child].time > uses[place].time
      {
        uses.swapAt(place, child)
        place = child
      }
      return largest
    }
  }
}
