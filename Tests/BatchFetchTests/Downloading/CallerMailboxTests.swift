import Foundation
import HTTPTypes
import Testing

@testable import BatchFetch

@Suite struct CallerMailboxTests {
  private var mailbox = CallerMailbox()

  private func progress(_ received: Int, attempt: Int = 1, of total: Int? = 9) -> DownloadProgress {
    DownloadProgress(attempt: attempt, received: received, total: total)
  }

  private func success(_ count: Int, status: HTTPResponse.Status = .ok) -> Result<Download, FetchFailure> {
    .success(
      Download(
        response: HTTPResponse(status: status), body: Array(repeating: 0, count: count), requestedAt: .now,
        respondedAt: .now, attempts: 1, queued: .zero, elapsed: .zero))
  }

  /// Everything that is to be told now, in short.
  private mutating func deliveries() -> [String] {
    var told: [String] = []
    while let delivery = mailbox.next() {
      switch delivery {
      case .progress(let progress): told.append("\(progress.received) of \(progress.total.map { "\($0)" } ?? "?")")
      case .end(.success(let download)): told.append("end with \(download.body.count)")
      case .end(.failure(let failure)): told.append("end by \(failure.code)")
      }
    }
    return told
  }

  @Test mutating func `The last progress is that of the whole body, and comes before the end`() {
    _ = mailbox.offer(progress(3))
    _ = mailbox.end(success(9))
    let told = deliveries()
    #expect(told == ["9 of 9", "end with 9"])
  }

  @Test mutating func `The whole body is told once, also where its length was not known before`() {
    _ = mailbox.offer(progress(9))
    let known = deliveries()
    _ = mailbox.end(success(9))
    let end = deliveries()
    #expect(known == ["9 of 9"] && end == ["end with 9"])

    var unknown = self
    unknown.mailbox = CallerMailbox()
    _ = unknown.mailbox.offer(progress(9, of: nil))
    let first = unknown.deliveries()
    _ = unknown.mailbox.end(success(9))
    let rest = unknown.deliveries()
    #expect(first == ["9 of ?"] && rest == ["9 of 9", "end with 9"])
  }

  @Test mutating func `An answer without a kept body, and a failure, have no progress of their own`() {
    _ = mailbox.end(success(0, status: .notModified))
    let told = deliveries()
    #expect(told == ["end with 0"])
  }

  @Test mutating func `Progress never goes back, but for an attempt that begins anew`() {
    var told: [String] = []
    for next in [progress(3), progress(2), progress(5), progress(5), progress(1, attempt: 2), progress(8)] {
      _ = mailbox.offer(next)
      told += deliveries()
    }
    #expect(told == ["3 of 9", "5 of 9", "1 of 9"])
  }

  @Test mutating func `Untold progress is replaced by what is newer`() {
    let isFirst = mailbox.offer(progress(3))
    let isSecond = mailbox.offer(progress(4))
    let told = deliveries()
    let isNext = mailbox.offer(progress(5))
    #expect(isFirst && !isSecond && isNext)
    #expect(told == ["4 of 9"])
  }

  @Test mutating func `Nothing follows the end`() {
    _ = mailbox.end(.failure(.cancelled))
    let told = deliveries()
    let later = [mailbox.offer(progress(3)), mailbox.end(success(9)), mailbox.cancel()]
    #expect(told == ["end by cancelled"])
    #expect(later == [false, false, false])
    #expect(mailbox.outcome?.failure == .cancelled)
  }

  @Test mutating func `A cancel takes the place of an end that was not told yet, and of one still to come`() {
    _ = mailbox.end(success(9))
    let isToldBefore = mailbox.outcome != nil
    _ = mailbox.cancel()
    let told = deliveries()
    #expect(!isToldBefore && told == ["end by cancelled"])

    var early = self
    early.mailbox = CallerMailbox()
    _ = early.mailbox.cancel()
    _ = early.mailbox.end(success(9))
    let toldEarly = early.deliveries()
    #expect(toldEarly == ["end by cancelled"])
  }
}
