import Testing

@testable import BatchFetch

@Suite struct ProgressMeterTests {
  private var meter = ProgressMeter(interval: .milliseconds(100))

  private func progress(_ received: Int) -> DownloadProgress {
    DownloadProgress(attempt: 1, received: received, total: nil)
  }

  @Test mutating func `An unwatched meter reports nothing and does not even read the clock`() {
    var isClockRead = false
    let isReported = meter.record(progress(1)) {
      isClockRead = true
      return .zero
    }
    #expect(!isReported && !isClockRead)
  }

  @Test mutating func `A watcher that comes late gets the current progress`() {
    let before = meter.watch()
    _ = meter.record(progress(7)) { .zero }
    let after = meter.watch()

    #expect(before == nil && after == progress(7))
  }

  @Test mutating func `A watched meter reports at once, and then at most once per interval`() {
    _ = meter.watch()
    let times = [0, 50, 99, 100, 199, 250, 349, 350].filter { time in
      meter.record(progress(time)) { .milliseconds(time) }
    }
    #expect(times == [0, 100, 250, 350])
  }
}
