/// The rows that have begun and not ended, at most as many as the batch's window holds.
struct RunningRows: Hashable, Sendable {
  private struct Row: Hashable {
    var url: String
    var start: Duration
  }

  /// A slow row.
  struct Slow: Hashable, Sendable {
    /// The host of its URL, safe to print.
    var host: String
    /// The whole seconds since it began.
    var seconds: Int
  }

  /// The time after which a row counts as slow.
  private static let patience = Duration.seconds(3)

  private var rows: [Int: Row] = [:]

  /// Creates an empty set.
  init() {}

  /// Records that the row `index` begins to fetch `url`.
  mutating func begin(_ index: Int, url: String, at time: Duration) {
    rows[index] = Row(url: url, start: time)
  }

  /// Records that the row `index` ended.
  mutating func end(_ index: Int) {
    rows[index] = nil
  }

  /// Returns the longest-running row if it is slow.
  func slowest(at time: Duration) -> Slow? {
    guard let row = rows.values.min(by: { $0.start < $1.start }), time - row.start >= Self.patience else { return nil }
    return Slow(host: Self.shown(SourceURLParts(row.url).host), seconds: Int((time - row.start) / .seconds(1)))
  }

  /// Replaces everything but printable ASCII with `?`, so that each character takes one column and none is a control
  /// character.
  private static func shown(_ host: String) -> String {
    String(host.unicodeScalars.map { (0x21...0x7E).contains($0.value) ? Character($0) : "?" })
  }
}
