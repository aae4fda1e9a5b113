import DownloadSupport
import Foundation
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct CallerMailboxTests {
  private var mailbox = CallerMailbox<Download>()

  private func progress(_ received: Int, attempt: Int = 1, of total: Int? = 9) -> DownloadProgress {
    DownloadProgress(attempt: attempt, received: received, total: total)
  }

  private func success(_ count: Int, status: HTTPResponse.Status = .ok) -> Result<Download, FetchFailure> {
    .success(
      Download(
        response: HTTPResponse(status: status), body: Array(repeating: 0, count: count), requestedAt: .now,
        respondedAt: .now, attempts: 1, queued: .zero, elapsed: .zero))
  }

  /// All deliveries that are due, in short.
  private mutating func deliveries() -> [String] {
    var delivered: [String] = []
    while let delivery = mailbox.next() {
      switch delivery {
      case .progress(let progress): delivered.append("\(progress.received) of \(progress.total.map { "\($0)" } ?? "?")")
      case .end(.success(let download)): delivered.append("end with \(download.body.count)")
      case .end(.failure(let failure)): delivered.append("failed: \(failure.code)")
      }
    }
    return delivered
  }

  @Test mutating func `The last progress covers the whole body, and precedes the end`() {
    _ = mailbox.offer(progress(3))
    _ = mailbox.end(success(9), complete: .complete(success(9)))
    let delivered = deliveries()
    #expect(delivered == ["9 of 9", "end with 9"])
  }

  @Test mutating func `The progress of the whole body is delivered once, even if its length was unknown before`() {
    _ = mailbox.offer(progress(9))
    let known = deliveries()
    _ = mailbox.end(success(9), complete: .complete(success(9)))
    let end = deliveries()
    #expect(known == ["9 of 9"] && end == ["end with 9"])

    var unknown = self
    unknown.mailbox = CallerMailbox<Download>()
    _ = unknown.mailbox.offer(progress(9, of: nil))
    let first = unknown.deliveries()
    _ = unknown.mailbox.end(success(9), complete: .complete(success(9)))
    let rest = unknown.deliveries()
    #expect(first == ["9 of ?"] && rest == ["9 of 9", "end with 9"])
  }

  @Test mutating func `A response without a body has no final progress`() {
    _ = mailbox.end(success(0, status: .notModified), complete: .complete(success(0, status: .notModified)))
    let delivered = deliveries()
    #expect(delivered == ["end with 0"])
  }

  @Test mutating func `Progress never decreases within one attempt`() {
    var delivered: [String] = []
    for next in [progress(3), progress(2), progress(5), progress(5), progress(1, attempt: 2), progress(8)] {
      _ = mailbox.offer(next)
      delivered += deliveries()
    }
    #expect(delivered == ["3 of 9", "5 of 9", "1 of 9"])
  }

  @Test mutating func `Newer progress replaces undelivered progress`() {
    let isFirst = mailbox.offer(progress(3))
    let isSecond = mailbox.offer(progress(4))
    let delivered = deliveries()
    let isNext = mailbox.offer(progress(5))
    #expect(isFirst && !isSecond && isNext)
    #expect(delivered == ["4 of 9"])
  }

  @Test mutating func `Nothing is delivered after the end`() {
    _ = mailbox.end(.failure(.cancelled))
    let delivered = deliveries()
    let later = [
      mailbox.offer(progress(3)), mailbox.end(success(9), complete: .complete(success(9))), mailbox.cancel(),
    ]
    #expect(delivered == ["failed: cancelled"])
    #expect(later == [false, false, false])
  }

  @Test mutating func `A cancellation replaces an end not delivered yet, and prevents a later one`() {
    _ = mailbox.end(success(9), complete: .complete(success(9)))
    _ = mailbox.cancel()
    let delivered = deliveries()
    #expect(delivered == ["failed: cancelled"])

    var early = self
    early.mailbox = CallerMailbox<Download>()
    _ = early.mailbox.cancel()
    _ = early.mailbox.end(success(9), complete: .complete(success(9)))
    let deliveredEarly = early.deliveries()
    #expect(deliveredEarly == ["failed: cancelled"])
  }
}
