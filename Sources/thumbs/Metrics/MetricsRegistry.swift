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
