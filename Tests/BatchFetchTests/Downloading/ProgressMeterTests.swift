import Testing

@testable import BatchFetch

@Suite struct ProgressMeterTests {
  private var meter = ProgressMeter(interval: .milliseconds(100))

  private func progress(_ received: Int) -> DownloadProgress {
    DownloadProgress(attempt: 1, received: received, total: nil)
  }

  @Test mutating func `Where nobody listens, nothing is told, and not even the time is asked for`() {
    var isAsked = false
    let isTold = meter.record(progress(1)) {
      isAsked = true
      return .zero
    }
    #expect(!isTold && !isAsked)
  }

  @Test mutating func `Who comes late hears how far it is`() {
    let before = meter.watch()
    _ = meter.record(progress(7)) { .zero }
    let after = meter.watch()
    #expect(before == nil && after == progress(7))
  }

  @Test mutating func `It tells at once, and then at most once an interval`() {
    _ = meter.watch()
    let times = [0, 50, 99, 100, 199, 250, 349, 350].filter { time in
      meter.record(progress(time)) { .milliseconds(time) }
    }
    #expect(times == [0, 100, 250, 350])
  }
}
