import BatchFetch
import CoreMetrics
import Synchronization

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
