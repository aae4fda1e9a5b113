/// The rate of items and bytes over the last ten seconds.
struct ProgressRate: Hashable, Sendable {
  private struct Sample: Hashable {
    var time: Duration
    var items: Int
    var bytes: Int
  }

  private static let window = Duration.seconds(10)
  private static let spacing = Duration.milliseconds(500)

  /// At most one sample per `spacing`, plus one from before the window.
  private var samples = [Sample(time: .zero, items: 0, bytes: 0)]

  /// Creates a rate without items or bytes.
  init() {}

  /// Records the totals at `time`, measured from the start.
  mutating func note(items: Int, bytes: Int, at time: Duration) {
    guard let last = samples.last, time - last.time >= Self.spacing else { return }
    samples.append(Sample(time: time, items: items, bytes: bytes))
    while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
  }

  /// Returns items and bytes per second, given the totals at `time`. Zero at the very start.
  func perSecond(items: Int, bytes: Int, at time: Duration) -> (items: Double, bytes: Double) {
    guard let first = samples.first, time > first.time else { return (0, 0) }
    let seconds = (time - first.time) / .seconds(1)
    return (Double(items - first.items) / seconds, Double(bytes - first.bytes) / seconds)
  }
}
