import Testing

@testable import BatchFetch

@Suite struct WaitingLineTests {
  @Test func `Values leave by priority, and each once`() {
    var line = WaitingLine<String>()
    let low = line.append("low", .low)
    let normal = line.append("normal", .normal)
    let raised = line.append("raised", .low)
    line.change(raised, to: .high)
    #expect(line.count == 3)

    #expect(line.popFirst() == "raised")
    #expect([raised, normal, normal].map { line.remove($0) } == [nil, "normal", nil])
    line.change(raised, to: .low)
    #expect(line.popFirst() == "low")
    #expect(line.popFirst() == nil)
    #expect(line.remove(low) == nil)
    #expect(line.count == 0)
  }

  @Test func `Equal values wait separately`() {
    var line = WaitingLine<String>()
    let first = line.append("a", .normal)
    let second = line.append("a", .normal)
    #expect(first != second && line.count == 2)
  }
}
