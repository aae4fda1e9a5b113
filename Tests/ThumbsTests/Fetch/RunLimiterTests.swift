import Testing

@testable import thumbs

@Suite struct RunLimiterTests {
  private static let both = RunLimits(time: .seconds(60), bytes: ByteSize(count: 1000))

  @Test(arguments: [
    (59_999, 999, nil), (60_000, 0, RunLimit.time(.seconds(60))), (0, 1000, .bytes(ByteSize(count: 1000))),
    (60_001, 2000, .time(.seconds(60))),
  ])
  func `A limit is reached at its value`(milliseconds: Int, downloaded: Int, expected: RunLimit?) {
    #expect(Self.both.reached(after: .milliseconds(milliseconds), downloaded: downloaded) == expected)
    #expect(RunLimits().reached(after: .seconds(milliseconds), downloaded: downloaded) == nil)
  }

  @Test(arguments: [
    (RunLimit.time(.seconds(60)), "60 s (--max-run-time)"), (.time(.milliseconds(500)), "0.5 s (--max-run-time)"),
    (.bytes(ByteSize(count: 3 << 29)), "1.5 GiB (--max-run-bytes)"),
  ])
  func `A limit is shown with its option`(limit: RunLimit, text: String) {
    #expect("\(limit)" == text && limit.message == "The run reached its limit of \(text).")
  }

  @Test func `The first limit that is reached stays`() {
    var limiter = RunLimiter(Self.both, mayBlock: false)

    let step = limiter.step(after: .seconds(1), rows: 1)
    #expect(step == .proceed && limiter.reached == nil)

    let isFirst = [2, 61].map { limiter.check(after: .seconds($0), downloaded: 1000) }
    #expect(isFirst == [true, false])
    #expect(limiter.reached == .bytes(ByteSize(count: 1000)))
  }

  @Test func `Files are read to their end, however long that takes, unless they give no row for five seconds`() {
    var limiter = RunLimiter(Self.both, mayBlock: false)
    let steps = (0...100).map { limiter.step(after: .seconds(60 + 4 * $0), rows: $0) }
    #expect(steps == Array(repeating: .cancelRequests, count: 101))

    let last = [464_999, 465_000].map { limiter.step(after: .milliseconds($0), rows: 100) }
    #expect(last == [.cancelRequests, .stopReading])
  }

  @Test func `A pipe that is silent for a second is not read to its end`() {
    var limiter = RunLimiter(Self.both, mayBlock: true)
    let steps = [(60_000, 5), (60_900, 5), (61_000, 6), (61_999, 6), (62_000, 6)].map { time, rows in
      limiter.step(after: .milliseconds(time), rows: rows)
    }

    #expect(steps == [.cancelRequests, .cancelRequests, .cancelRequests, .cancelRequests, .stopReading])
  }

  @Test func `A pipe that never ends is read for five seconds more`() {
    var limiter = RunLimiter(Self.both, mayBlock: true)
    let steps = (0...10).map { limiter.step(after: .seconds(60) + .milliseconds(500 * $0), rows: $0) }

    #expect(steps == Array(repeating: .cancelRequests, count: 10) + [.stopReading])
  }

  @Test func `A run that ends for another reason has no limits anymore`() {
    var limiter = RunLimiter(Self.both, mayBlock: true)
    limiter.disarm()

    let step = limiter.step(after: .seconds(100), rows: 0)
    let isReached = limiter.check(after: .seconds(100), downloaded: 5000)

    #expect(step == .proceed && !isReached && limiter.reached == nil)
  }
}
