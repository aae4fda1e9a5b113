import Testing

@testable import thumbs

@Suite struct LiveScheduleTests {
  /// The seconds at which a page of `byteCount` bytes is written if it changes at every second for which `isChanged`
  /// returns true.
  private func writes(of byteCount: Int, until end: Int, ifChanged isChanged: (Int) -> Bool) -> [Int] {
    var schedule = LiveSchedule()
    var writes: [Int] = []
    var isPending = false
    for second in 0...end {
      isPending = isPending || isChanged(second)
      guard schedule.isDue(at: .seconds(second), isChanged: isPending) else { continue }
      schedule.recordWrite(of: byteCount, at: .seconds(second))
      isPending = false
      writes.append(second)
    }
    return writes
  }

  @Test(arguments: [(0, [0, 1, 2, 3, 4, 5, 6]), (1 << 20, [0, 2, 4, 6]), (5 << 20, [0, 6])])
  func `A page that changes is written every second, and a larger one less often`(byteCount: Int, expected: [Int]) {
    #expect(writes(of: byteCount, until: 6) { _ in true } == expected)
  }

  @Test func `A page that does not change is written every ten seconds`() {
    #expect(writes(of: 0, until: 25) { _ in false } == [0, 10, 20])
    #expect(writes(of: 0, until: 25) { $0 == 13 } == [0, 10, 13, 23])
  }

  @Test func `A page is not written twice in a second`() {
    var schedule = LiveSchedule()
    schedule.recordWrite(of: 10, at: .milliseconds(500))

    #expect(!schedule.isDue(at: .milliseconds(1499), isChanged: true))
    #expect(schedule.isDue(at: .milliseconds(1501), isChanged: true))
  }
}
