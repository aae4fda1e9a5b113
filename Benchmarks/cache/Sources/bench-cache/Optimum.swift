/// The best that any policy of this capacity could do: to evict what is needed furthest in the future (Belady 1966),
/// or not to keep what is needed later than all that is there.
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

  /// For each request, when its key is asked for next.
  private static func nextUses(_ trace: [Int]) -> [Int] {
    var next: [Int: Int] = [:]
    var result = [Int](repeating: 0, count: trace.count)
    for time in trace.indices.reversed() {
      // Those that never come again differ, so that each is one place in the heap.
      result[time] = next.updateValue(time, forKey: trace[time]) ?? trace.count + time
    }
    return result
  }

  /// A binary heap, the largest time first. Outdated places stay until they come up.
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
