/// Adds up the bytes of the downloads that a batch has running, and decides when its progress is reported. A plain
/// value.
struct BatchMeter {
  private let interval: Duration
  /// The progress of the running downloads, by the index of the element.
  private var running: [Int: DownloadProgress] = [:]
  /// The bytes that the running downloads have received.
  private(set) var receivedBytes = 0
  private var knownLengths = 0
  /// The number of running downloads whose length is unknown.
  private var unknownCount = 0
  private var lastSchedule: Duration?
  private var lastReport: BatchProgress?
  /// True from the decision to report until the report is made.
  private var isScheduled = false

  /// - Parameter interval: The shortest time between two reports.
  init(interval: Duration) { self.interval = interval }

  /// The length of the running downloads; nil while one of them is unknown.
  var expectedBytes: Int? { unknownCount == 0 ? knownLengths : nil }

  /// Records the progress of an element.
  mutating func record(_ progress: DownloadProgress, of index: Int) {
    if let old = running.updateValue(progress, forKey: index) { count(old, -1) }
    count(progress, 1)
  }

  /// Drops the progress of an element that has ended.
  mutating func end(_ index: Int) {
    if let old = running.removeValue(forKey: index) { count(old, -1) }
  }

  /// Returns true if a report must be scheduled now. It is made with what is known by then, so changes in the meantime
  /// need no other one.
  mutating func schedulesReport(at now: Duration) -> Bool {
    guard !isScheduled else { return false }
    if let lastSchedule, now - lastSchedule < interval { return false }
    lastSchedule = now
    isScheduled = true
    return true
  }

  /// Returns true if `progress` is to be reported now: it differs from the last report.
  mutating func reports(_ progress: BatchProgress) -> Bool {
    isScheduled = false
    defer { lastReport = progress }
    return progress != lastReport
  }

  private mutating func count(_ progress: DownloadProgress, _ sign: Int) {
    receivedBytes += sign * progress.received
    if let total = progress.total { knownLengths += sign * total } else { unknownCount += sign }
  }
}
