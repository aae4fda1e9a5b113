import Testing

@testable import Downloads

@Suite struct ProgressThrottleTests {
  private var throttle = ProgressThrottle(interval: .milliseconds(100))

  private func progress(_ received: Int) -> DownloadProgress {
    DownloadProgress(attempt: 1, received: received, total: nil)
  }

  @Test mutating func `No progress is reported while nobody watches, and the clock is not read`() {
    var isClockRead = false
    let isReported = throttle.record(progress(1)) {
      isClockRead = true
      return .zero
    }
    #expect(!isReported && !isClockRead)
  }

  @Test mutating func `A late watcher gets the progress so far`() {
    let before = throttle.watch()
    _ = throttle.record(progress(7)) { .zero }
    let after = throttle.watch()
    #expect(before == nil && after == progress(7))
  }

  @Test mutating func `Progress behind that of the same attempt is dropped, and that of a later attempt counts`() {
    _ = throttle.watch()
    let reports = [(1, 50), (1, 20), (1, 60), (2, 10)].enumerated().filter { time, progress in
      throttle.record(DownloadProgress(attempt: progress.0, received: progress.1)) { .seconds(time) }
    }
    #expect(reports.map(\.element.1) == [50, 60, 10])
    #expect(throttle.watch()?.attempt == 2)
  }

  @Test mutating func `Progress is reported at once, and then at most once per interval`() {
    _ = throttle.watch()
    let times = [0, 50, 99, 100, 199, 250, 349, 350].filter { time in
      throttle.record(progress(time)) { .milliseconds(time) }
    }
    #expect(times == [0, 100, 250, 350])
  }
}
