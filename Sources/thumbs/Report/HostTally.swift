import BatchFetch

/// How the rows of each host went. Bounded: of hosts beyond a limit, only the number of their rows is known.
struct HostTally: Hashable, Sendable {
  /// How the rows of one host went.
  struct Host: Hashable, Sendable {
    /// Rows that ended, cancelled ones excepted.
    var rows = 0
    /// Those of them that failed.
    var failed = 0
    /// Those for which the server was asked and answered well.
    var downloads = 0
    /// The time of these downloads together.
    var time = Duration.zero

    /// The mean time of a download; zero where there was none.
    var meanTime: Duration { downloads == 0 ? .zero : time / downloads }
  }

  /// The most hosts that are told apart.
  static let limit = 10_000

  /// The hosts, by name.
  private(set) var hosts: [String: Host] = [:]
  /// Rows of further hosts.
  private(set) var unlistedRows = 0

  /// Counts the row of `line`. One without a host, such as a file, or that was cancelled, does not count.
  mutating func count(_ line: ReportLine) {
    let host = SourceAddress(line.url ?? "").host
    guard !host.isEmpty, line.status != .cancelled else { return }
    guard hosts[host] != nil || hosts.count < Self.limit else {
      unlistedRows += 1
      return
    }
    hosts[host, default: Host()].count(line.outcome)
  }

  /// The `count` hosts with the longest mean time of a download, the slowest first.
  func slowest(_ count: Int) -> [(name: String, host: Host)] {
    hosts.filter { $0.value.downloads > 0 }
      .sorted { ($1.value.meanTime, $0.key) < ($0.value.meanTime, $1.key) }
      .prefix(count).map { ($0.key, $0.value) }
  }

  /// The `count` hosts with the most failures, the worst first.
  func mostFailing(_ count: Int) -> [(name: String, host: Host)] {
    hosts.filter { $0.value.failed > 0 }
      .sorted { ($1.value.failed, $0.key) < ($0.value.failed, $1.key) }
      .prefix(count).map { ($0.key, $0.value) }
  }
}

extension HostTally.Host {
  fileprivate mutating func count(_ outcome: ReportLine.Outcome) {
    rows += 1
    switch outcome {
    case .failed: failed += 1
    case .done(let set, _) where set.origin == .network || set.origin == .revalidated:
      downloads += 1
      time += set.timings.download
    case .done: break
    }
  }
}
