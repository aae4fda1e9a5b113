import BatchFetch

/// Outcomes and download times per host. Bounded: rows of hosts beyond ``limit`` are only counted.
struct HostTally: Hashable, Sendable {
  /// The rows of one host.
  struct Host: Hashable, Sendable {
    /// The number of rows that succeeded or failed; canceled rows do not count.
    var rows = 0
    /// The number of rows that failed.
    var failed = 0
    /// The number of rows that the server sent or revalidated successfully.
    var downloads = 0
    /// The total time of these downloads.
    var time = Duration.zero

    /// The mean time of a download; zero without downloads.
    var meanTime: Duration { downloads == 0 ? .zero : time / downloads }
  }

  /// The maximum number of hosts listed separately.
  static let limit = 10_000

  /// The listed hosts by name.
  private(set) var hosts: [String: Host] = [:]
  /// The number of rows of hosts beyond the limit.
  private(set) var unlistedRows = 0

  /// Counts `row`, unless it was canceled or skipped, or has no host, like a local file.
  mutating func count(_ row: ReportRow) {
    guard row.status != .cancelled, let host = row.url.map({ SourceURLParts($0).host }), !host.isEmpty else { return }
    guard hosts[host] != nil || hosts.count < Self.limit else {
      unlistedRows += 1
      return
    }
    hosts[host, default: Host()].count(row)
  }

  /// Returns the `count` hosts with the longest mean download time, slowest first.
  func slowest(_ count: Int) -> [(name: String, host: Host)] {
    hosts.filter { $0.value.downloads > 0 }
      .sorted { ($1.value.meanTime, $0.key) < ($0.value.meanTime, $1.key) }
      .prefix(count).map { ($0.key, $0.value) }
  }

  /// Returns the `count` hosts with the most failures, most first.
  func mostFailing(_ count: Int) -> [(name: String, host: Host)] {
    hosts.filter { $0.value.failed > 0 }
      .sorted { ($1.value.failed, $0.key) < ($0.value.failed, $1.key) }
      .prefix(count).map { ($0.key, $0.value) }
  }
}

extension HostTally.Host {
  fileprivate mutating func count(_ row: ReportRow) {
    rows += 1
    if row.status == .failed { failed += 1 }
    guard let download = row.ownDownload else { return }
    downloads += 1
    time += download
  }
}

// MARK: Text

extension HostTally {
  /// The maximum number of hosts in each list of the JSON form.
  private static let listLength = 10

  /// The lines of a summary for people: none for a single host, about which they would only repeat other lines.
  var lines: [String] {
    guard hosts.count > 1 else { return [] }
    let slowest = slowest(3).map { "\($0.name) \($0.host.meanTime.secondsText) s" }
    let failing = mostFailing(3).map { "\($0.name) \($0.host.failed.grouped) of \($0.host.rows.grouped)" }
    return (slowest.isEmpty ? [] : ["  slowest hosts: " + slowest.joined(separator: ", ")])
      + (failing.isEmpty ? [] : ["  most failures: " + failing.joined(separator: ", ")])
  }

  /// Writes the member `hosts` of a summary.
  func write(to text: inout JSONText) {
    text.key("hosts")
    text.object { text in
      text.member("count", hosts.count)
      text.member("unlistedItems", unlistedRows)
      text.objects("slowest", slowest(Self.listLength), Self.write)
      text.objects("failing", mostFailing(Self.listLength), Self.write)
    }
  }

  /// Writes the members of a host.
  static func write(_ entry: (name: String, host: Host), to text: inout JSONText) {
    text.member("host", entry.name)
    text.member("downloads", entry.host.downloads)
    text.member("mean", entry.host.meanTime.wholeMilliseconds)
    text.member("items", entry.host.rows)
    text.member("failed", entry.host.failed)
  }
}
