import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite(.timeLimit(.minutes(5))) struct InputBudgetTests {
  @Test(arguments: [(limit: 100, inHand: 3), (limit: 1, inHand: 1)])
  func `Rows are read while their lines are shorter than the limit, and then as others are finished`(
    limit: Int, inHand: Int
  ) async throws {
    let lines = (0..<6).map { #"{"id":\#($0),"url":"http://a.example/1.png"}"# }
    #expect((lines[0].utf8.count * (inHand - 1)..<lines[0].utf8.count * inHand).contains(limit - 1))
    let budget = InputBudget(limit: limit)
    let rows = WorkerRows(LineReader(text: lines.joined(separator: "\n")), budget: budget) { _ in [] }
    let read = Recorder<WorkerRow>()
    Thread { while let row = rows.next() { read.record(row) } }.start()

    for finished in 0..<lines.count {
      if finished + inHand < lines.count {
        await eventually { budget.isWaiting }
        #expect(read.values.count == finished + inHand)
      } else {
        await eventually { read.values.count == lines.count }
      }
      rows.finish(read.values[finished])
    }
    await eventually { rows.ending == .complete(rows: lines.count) }
  }
}
