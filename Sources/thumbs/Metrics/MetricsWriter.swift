import BatchFetch
import CoreMetrics
import Foundation
import Synchronization

/// Collects the metrics of a run and writes them to a file: at the start, every ten seconds, and at the end.
///
/// Each time, the whole file is replaced by renaming, so that a reader never sees a part of it. A pipe or a device gets
/// the metrics at the end only.
final class MetricsWriter: Sendable {
  /// The time between two updates of the file.
  static let interval = Duration.seconds(10)

  /// The metrics of the run.
  let registry = MetricsRegistry()
  /// The counts of the rows.
  let items: ItemMetrics
  private let file: NamedFile
  private let place: ReplacedFile
  private let exitCode: Gauge
  private let finished: Gauge
  private let elapsed: @Sendable () -> Duration
  /// The time of the last update. Held while the file is written, so that updates come one after the other.
  private let lastWrite = Mutex<Duration?>(nil)
  private let timer = RepeatingTimer("thumbs.metrics")

  /// Prepares the metrics of a run that has begun at `start`.
  ///
  /// - Parameters:
  ///   - file: The file to replace. Symbolic links are followed.
  ///   - workplace: The directory for temporary files if `file` is a pipe or a device.
  ///   - reserved: The files that thumbnails never replace. The file stays among them when it is replaced.
  ///   - elapsed: Returns the time since the start of the run. Default since this call.
  init(
    _ file: NamedFile, start: Date = Date(), workplace: String, reserved: ReservedFiles = ReservedFiles(),
    elapsed: (@Sendable () -> Duration)? = nil
  ) throws(OutputError) {
    let begin = ContinuousClock.now
    self.elapsed = elapsed ?? { ContinuousClock.now - begin }
    self.file = file
    place = try ReplacedFile(file, workplace: workplace, as: .metrics, in: reserved)
    items = ItemMetrics(registry)
    exitCode = Gauge(label: "thumbs_run_exit_code", factory: registry)
    finished = Gauge(label: "thumbs_run_finished", factory: registry)
    exitCode.record(-1)
    Gauge(label: "thumbs_run_start_time_seconds", factory: registry).record(start.timeIntervalSince1970)
    Gauge(label: "thumbs_build_info", dimensions: [("version", Downloader.version)], factory: registry).record(1)
  }

  /// Replaces the file if an update is due. `update` is called before, to set the gauges.
  func tick(_ update: () -> Void) throws(OutputError) {
    guard file.identity != nil else { return }
    let time = elapsed()
    try lastWrite.withLock { last throws(OutputError) in
      if let last, time - last < Self.interval { return }
      last = time
      update()
      try write()
    }
  }

  /// Writes the file for the first time, and then at its times until ``finish(_:_:)``.
  ///
  /// - Parameters:
  ///   - update: Sets the gauges. It may block.
  ///   - onError: Receives an error of a later update.
  func start(
    _ update: @escaping @Sendable () -> Void, onError: @escaping @Sendable (OutputError) -> Void
  ) throws(OutputError) {
    try tick(update)
    timer.start(every: 1000) { [weak self] in
      do throws(OutputError) {
        try self?.tick(update)
      } catch {
        onError(error)
      }
    }
  }

  /// Writes the final metrics, with the exit status of the process.
  func finish(_ code: Int32, _ update: () -> Void) throws(OutputError) {
    timer.stop()
    try lastWrite.withLock { _ throws(OutputError) in
      update()
      exitCode.record(code)
      finished.record(1)
      try write()
    }
  }

  private func write() throws(OutputError) {
    try place.replace { descriptor throws(OutputError) in
      try FileDescriptor.write(registry.text[...], to: descriptor, path: file.name)
    }
  }
}

/// Counts the rows of a run by outcome, origin and failure code.
final class ItemMetrics: Sendable {
  private struct Key: Hashable {
    var outcome: ReportLine.Status
    var origin: String?
    var code: FailureCode?
  }

  private let factory: any MetricsFactory
  private let counters = Mutex<[Key: Counter]>([:])

  /// Creates counters that `factory` collects.
  init(_ factory: any MetricsFactory) { self.factory = factory }

  /// Counts the row of `line`, unless a retry skipped it.
  func count(_ line: ReportLine) {
    var key = Key(outcome: line.status)
    switch line.outcome {
    case .done(let set, _): key.origin = set.origin.rawValue
    case .kept: key.origin = ReportLine.existing
    case .failed(let failure): key.code = failure.code
    case .skipped: return
    }
    counter(key).increment()
  }

  private func counter(_ key: Key) -> Counter {
    counters.withLock { counters in
      if let known = counters[key] { return known }
      let labels = [
        ("outcome", key.outcome.rawValue), ("origin", key.origin ?? ""),
        ("code", key.code.map { "\($0)" } ?? ""),
      ]
      let counter = Counter(label: "thumbs_items_total", dimensions: labels, factory: factory)
      counters[key] = counter
      return counter
    }
  }
}
