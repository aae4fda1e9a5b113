/// The rows that have begun and not come to an end: as many as the batch looks ahead.
struct RunningRows: Hashable, Sendable {
  private struct Row: Hashable {
    var url: String
    var start: Duration
  }

  /// A row that keeps a run waiting.
  struct Slow: Hashable, Sendable {
    /// The host that it waits for.
    var host: String
    /// Whole seconds since it began.
    var seconds: Int
  }

  /// From which age on a row is slow.
  private static let patience = Duration.seconds(3)

  private var rows: [Int: Row] = [:]

  /// None.
  init() {}

  /// The row `index` begins.
  mutating func begin(_ index: Int, url: String, at time: Duration) {
    rows[index] = Row(url: url, start: time)
  }

  /// It came to an end.
  mutating func end(_ index: Int) {
    rows[index] = nil
  }

  /// The row that has gone on longest, where that is long.
  func slowest(at time: Duration) -> Slow? {
    guard let row = rows.values.min(by: { $0.start < $1.start }), time - row.start >= Self.patience else { return nil }
    return Slow(host: Self.shown(SourceAddress(row.url).host), seconds: Int((time - row.start) / .seconds(1)))
  }

  /// One column a character, and none that a terminal could obey.
  private static func shown(_ host: String) -> String {
    String(host.unicodeScalars.map { (0x21...0x7E).contains($0.value) ? Character($0) : "?" })
  }
}
