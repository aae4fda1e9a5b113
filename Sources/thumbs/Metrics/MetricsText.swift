/// A writer of the text format of Prometheus (version 0.0.4), as the textfile collector of its node exporter reads it.
struct MetricsText: Hashable, Sendable {
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
