import CoreMetrics
import Synchronization

/// The metrics of a run, collected in memory. The libraries and the command get their handles here.
///
/// The same name and labels always give the same series, so that several pipelines are counted together.
final class MetricsRegistry: MetricsFactory {
  private let known = Mutex<[MetricKey: MetricSeries]>([:])

  /// Creates an empty registry.
  init() {}

  /// The current values in the text format of Prometheus.
  var text: [UInt8] {
    let known = known.withLock { $0 }
    var text = MetricsText()
    for (key, series) in known.sorted(by: { $0.key < $1.key }) { text.add(key, series) }
    return text.bytes
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let made = series(label, dimensions) { .count(MetricSeries.Count()) }
    if case .count(let count) = made { return count }
    return NOOPMetricsHandler.instance
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    let made = series(label, dimensions) { .level(MetricSeries.Level()) }
    if case .level(let level) = made { return level }
    return NOOPMetricsHandler.instance
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    let made = series(label, dimensions) { .level(MetricSeries.Level()) }
    if case .level(let level) = made { return level }
    return NOOPMetricsHandler.instance
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let made = series(label, dimensions) { .times(MetricSeries.Times()) }
    if case .times(let times) = made { return times }
    return NOOPMetricsHandler.instance
  }

  // The series stay, because a counter that disappears would look like a new process.
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  /// Returns the series of a name with labels, made by `make` if it is new.
  private func series(
    _ name: String, _ labels: [(String, String)], _ make: () -> MetricSeries
  ) -> MetricSeries {
    let key = MetricKey(name: name, labels: labels.map { MetricKey.Label(name: $0.0, value: $0.1) })
    return known.withLock { known in
      if let series = known[key] { return series }
      let new = make()
      known[key] = new
      return new
    }
  }
}

/// One series of a metric: its name, its labels, and a value that changes.
private enum MetricSeries {
  /// A number that only grows.
  final class Count: CounterHandler {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }

    func increment(by amount: Int64) { number.wrappingAdd(Int(amount), ordering: .relaxed) }

    func reset() { number.store(0, ordering: .relaxed) }
  }

  /// A number that is set.
  final class Level: RecorderHandler, MeterHandler {
    private let number = Mutex(0.0)

    var value: Double { number.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) { number.withLock { $0 = value } }

    func set(_ value: Int64) { record(value) }

    func set(_ value: Double) { record(value) }

    func increment(by amount: Double) { number.withLock { $0 += amount } }

    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
  }

  /// A distribution of durations.
  final class Times: TimerHandler {
    private let histogram = Mutex(Histogram())

    var value: Histogram { histogram.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) { histogram.withLock { $0.record(nanoseconds: Int(duration)) } }
  }

  case count(Count)
  case level(Level)
  case times(Times)
}

/// The name of a metric and the labels of one of its series.
private struct MetricKey: Hashable, Comparable, Sendable {
  /// A label and its value, such as `tier` and `disk`.
  struct Label: Hashable, Comparable, Sendable {
    var name: String
    var value: String

    static func < (a: Label, b: Label) -> Bool { (a.name, a.value) < (b.name, b.value) }
  }

  var name: String
  var labels: [Label] = []

  /// Orders by name, then by labels, so that the series of a metric are together.
  static func < (a: MetricKey, b: MetricKey) -> Bool {
    a.name == b.name ? a.labels.lexicographicallyPrecedes(b.labels) : a.name < b.name
  }
}

/// The distribution of durations over fixed buckets.
private struct Histogram: Hashable, Sendable {
  /// The upper bounds of the buckets in seconds, from a memory hit to the longest download.
  static let bounds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
  ]

  /// The number of durations in each bucket, and above the last one.
  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  /// The sum of all durations in nanoseconds.
  private(set) var nanoseconds = 0

  /// Creates an empty histogram.
  init() {}

  /// Adds a duration.
  mutating func record(nanoseconds: Int) {
    let seconds = Double(nanoseconds) / 1e9
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    self.nanoseconds = self.nanoseconds.addingReportingOverflow(nanoseconds).partialValue
  }
}

/// The descriptions of the metrics, as in `Documentation/formats.md`.
enum MetricHelp {
  /// The text after `# HELP`, by the name of the metric.
  static let texts = [
    "thumbs_build_info": "Always 1. The label has the version of the command.",
    "thumbs_cache_evictions_total": "Entries removed to stay within the limit, by tier.",
    "thumbs_cache_hits_total": "Lookups that a tier served.",
    "thumbs_cache_misses_total": "Lookups that a tier could not serve.",
    "thumbs_cache_size_bytes": "Size of the entries of a tier.",
    "thumbs_download_seconds": "Time of a download from its first attempt to the last byte, retries included.",
    "thumbs_downloaded_bytes_total": "Bytes of the bodies downloaded.",
    "thumbs_downloads_total": "Downloads that ended, by failure code; empty if successful.",
    "thumbs_images_in_flight": "Images that are looked up, downloaded or rendered.",
    "thumbs_items_total": "Rows of the manifests that ended, by outcome, origin and failure code.",
    "thumbs_queue_depth": "Images that wait for a lookup or a render, and those that wait for a transfer or have one.",
    "thumbs_queue_seconds": "Time of an image from its request to its first attempt, or to the cache hit.",
    "thumbs_remote_cache_lookups_total": "Lookups in the remote cache, by result.",
    "thumbs_remote_cache_uploads_total": "Images uploaded to the remote cache, or not, by result.",
    "thumbs_render_seconds": "Time to decode, resize and encode all sizes of an image.",
    "thumbs_renders_total": "Images decoded.",
    "thumbs_run_exit_code": "Exit status of the run; -1 until it has finished.",
    "thumbs_run_finished": "1 if the run has finished, 0 before.",
    "thumbs_run_start_time_seconds": "Start of the run, in seconds since 1970.",
  ]
}

/// A writer of the text format of Prometheus (version 0.0.4), as the textfile collector of its node exporter reads it.
private struct MetricsText: Hashable, Sendable {
  /// The text written so far.
  private(set) var bytes: [UInt8] = []
  private var lastName: String?

  /// Creates an empty text.
  init() {}

  /// Writes the samples of a series. All series of a metric must come one after the other.
  mutating func add(_ key: MetricKey, _ series: MetricSeries) {
    switch series {
    case .count(let count):
      begin(key.name, "counter")
      sample(key.name, key.labels, "\(count.value)")
    case .level(let level):
      begin(key.name, "gauge")
      sample(key.name, key.labels, Self.number(level.value))
    case .times(let times):
      begin(key.name, "histogram")
      add(key, times.value)
    }
  }

  /// Writes the buckets, which count all values up to their bounds.
  private mutating func add(_ key: MetricKey, _ histogram: Histogram) {
    var count = 0
    for (index, bound) in (Histogram.bounds + [.infinity]).enumerated() {
      count += histogram.counts[index]
      let label = MetricKey.Label(name: "le", value: Self.number(bound))
      sample("\(key.name)_bucket", key.labels + [label], "\(count)")
    }
    sample("\(key.name)_sum", key.labels, Self.number(Double(histogram.nanoseconds) / 1e9))
    sample("\(key.name)_count", key.labels, "\(count)")
  }

  /// Writes the lines before the first series of a metric.
  private mutating func begin(_ name: String, _ type: String) {
    guard name != lastName else { return }
    lastName = name
    let help = MetricHelp.texts[name] ?? "A metric of thumbs."
    let escaped = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    bytes += "# HELP \(name) \(escaped)\n# TYPE \(name) \(type)\n".utf8
  }

  private mutating func sample(_ name: String, _ labels: [MetricKey.Label], _ value: String) {
    let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    bytes += "\(name)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n".utf8
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// Formats a number without a fraction of zero: `30`, `0.0025`, `+Inf`.
  private static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    return Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }
}
