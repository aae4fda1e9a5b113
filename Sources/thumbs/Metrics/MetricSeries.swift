import CoreMetrics
import Synchronization

/// One series of a metric: its name, its labels, and a value that changes.
enum MetricSeries {
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
