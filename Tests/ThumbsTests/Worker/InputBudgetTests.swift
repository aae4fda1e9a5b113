import Foundation
import Testing

@testable import thumbs

@Suite struct InputBudgetTests {
  private func rows(_ lines: [String], limit: Int) -> WorkerRows {
    WorkerRows(LineReader(text: lines.joined(separator: "\n")), budget: InputBudget(limit: limit)) { _ in [] }
  }

  @Test(arguments: [(limit: 100, inHand: 3), (limit: 1, inHand: 1)])
  func `Rows are read while their lines are shorter than the limit, and then as others are finished`(
    limit: Int, inHand: Int
  ) async throws {
    let lines = (0..<6).map { #"{"id":\#($0),"url":"http://a.example/1.png"}"# }
    let rows = rows(lines, limit: limit)
    let (read, reads) = AsyncStream.makeStream(of: WorkerRow.self)
    Thread {
      while let row = rows.next() { reads.yield(row) }
      reads.finish()
    }.start()
    var iterator = read.makeAsyncIterator()
    var taken: [WorkerRow] = []
    for _ in 0..<inHand { taken.append(try #require(await iterator.next())) }
    #expect(lines[0].utf8.count * inHand >= limit)

    var count = inHand
    while !taken.isEmpty {
      rows.finish(taken.removeFirst())
      guard let row = await iterator.next() else { break }
      taken.append(row)
      count += 1
    }
    #expect(count == lines.count)
  }
}
