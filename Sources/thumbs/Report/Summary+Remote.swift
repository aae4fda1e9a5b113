import BatchFetch

extension RemoteCacheCounters {
  /// The names of the counts of lookups and uploads, in the summary and in this order.
  private var lookups: [(StaticString, Int)] {
    [
      ("hits", hits), ("misses", misses), ("timeouts", timeouts), ("errors", errors), ("rejected", rejected),
      ("skipped", skipped),
    ]
  }

  private var uploads: [(StaticString, Int)] { [("stored", stored), ("failed", failed), ("dropped", dropped)] }

  /// Writes the member `remoteCache` of a summary.
  func write(to text: inout JSONText) { text.members("remoteCache", lookups + uploads) }

  /// The line of the summary for people; nil if nothing happened.
  var line: String? {
    let parts = [Self.list(lookups), Self.list(uploads)].filter { !$0.isEmpty }
    return parts.isEmpty ? nil : "  remote cache: " + parts.joined(separator: "; ")
  }

  private static func list(_ counts: [(StaticString, Int)]) -> String {
    counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
  }
}
