import Testing

@testable import Downloads

@Suite struct `The pace of inspections` {
  @Test func `All inspections of a body together read no more than five times its bytes`() {
    var (pace, read, count) = (InspectionPace(), 0, 0)
    for total in stride(from: 100, through: 10_000_000, by: 100) where pace.isDue(at: total) {
      pace.inspected(total, isAccepted: false)
      (read, count) = (read + total, count + 1)
    }

    #expect(count > 20 && read <= 50_000_000)
  }

  @Test func `The first pieces are inspected one by one`() {
    var pace = InspectionPace()
    for total in [0, 1, 2, 3, 5, 9] {
      #expect(pace.isDue(at: total))
      pace.inspected(total, isAccepted: false)
    }
  }

  @Test func `A body is not inspected again once it is accepted`() {
    var pace = InspectionPace()
    pace.inspected(10, isAccepted: true)

    #expect(!pace.isDue(at: 1_000_000))
  }
}
