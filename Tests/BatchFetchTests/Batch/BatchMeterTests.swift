import Testing

@testable import BatchFetch

@Suite struct BatchMeterTests {
  private var meter = BatchMeter(interval: .milliseconds(100))

  private func progress(_ received: Int, of total: Int?, attempt: Int = 1) -> DownloadProgress {
    DownloadProgress(attempt: attempt, received: received, total: total)
  }

  @Test mutating func `The bytes and lengths of running downloads add up, and those of ended ones are dropped`() {
    #expect(meter.receivedBytes == 0 && meter.expectedBytes == 0)
    meter.record(progress(10, of: 100), of: 0)
    meter.record(progress(5, of: 50), of: 7)
    meter.record(progress(30, of: 100), of: 0)
    #expect(meter.receivedBytes == 35 && meter.expectedBytes == 150)

    meter.end(0)
    meter.end(0)
    meter.end(3)
    #expect(meter.receivedBytes == 5 && meter.expectedBytes == 50)
  }

  @Test mutating func `The length is unknown while that of one download is`() {
    meter.record(progress(10, of: 100), of: 0)
    meter.record(progress(5, of: nil), of: 1)
    meter.record(progress(6, of: nil), of: 1)
    #expect(meter.receivedBytes == 16 && meter.expectedBytes == nil)

    meter.record(progress(7, of: 20), of: 1)
    #expect(meter.expectedBytes == 120)
    meter.record(progress(1, of: nil, attempt: 2), of: 0)
    #expect(meter.receivedBytes == 8 && meter.expectedBytes == nil)
    meter.end(0)
    #expect(meter.expectedBytes == 20)
  }

  @Test mutating func `A report is scheduled at once, then once per interval, and never while one is scheduled`() {
    let value = BatchProgress(finished: 1)
    let times = [0, 50, 100, 150, 210, 250, 400].filter { time in
      let isScheduled = meter.schedulesReport(at: .milliseconds(time))
      // The queue of the deliveries is busy until 200 ms.
      if isScheduled, time != 100 { _ = meter.reports(value) }
      if time == 150 { _ = meter.reports(value) }
      return isScheduled
    }
    #expect(times == [0, 100, 210, 400])
  }

  @Test mutating func `Equal progress is not reported twice`() {
    let reports = [1, 1, 2, 1].map { meter.reports(BatchProgress(finished: $0)) }
    #expect(reports == [true, false, true, true])
  }
}
