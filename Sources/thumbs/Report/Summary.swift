import BatchFetch

/// How a run went: what became of its rows.
struct Summary: Hashable, Sendable {
  /// Rows that have their files, by where these came from.
  private(set) var done: [ThumbnailSet.Origin: Int] = [:]
  /// Rows that failed, by cause.
  private(set) var failed: [FailureCode: Int] = [:]
  /// Rows that were given up.
  private(set) var cancelled = 0
  /// Files that were written.
  private(set) var writtenFiles = 0
  /// Files that were found as they should be.
  private(set) var unchangedFiles = 0
  /// Bytes of the pictures that the cache had, so that no server had to send them.
  private(set) var savedBytes = 0
  /// The rows by host.
  private(set) var hosts = HostTally()

  /// No rows yet.
  init() {}

  /// Counts the row of `line`.
  mutating func count(_ line: ReportLine) {
    hosts.count(line)
    switch (line.outcome, line.status) {
    case (_, .cancelled): cancelled += 1
    case (.failed(let failure), _): failed[failure.code, default: 0] += 1
    case (.done(let set, let outputs), _):
      done[set.origin, default: 0] += 1
      unchangedFiles += outputs.count { $0.outcome == .unchanged }
      writtenFiles += outputs.count { $0.outcome == .written }
      if set.origin.isCache { savedBytes += set.sourceBytes }
    }
  }
}

extension Summary {
  /// Rows that have their files.
  var doneCount: Int { done.values.reduce(0, +) }
  /// Rows that failed.
  var failedCount: Int { failed.values.reduce(0, +) }
  /// All rows.
  var total: Int { doneCount + failedCount + cancelled }

  /// The status that a run ends with when it was not stopped from outside: 0 where no row failed; 75 (`EX_TEMPFAIL`)
  /// where at least one failure is worth retrying, also beside others that are not; 1 otherwise.
  var exitCode: Int32 {
    if failed.keys.contains(where: \.isRetryable) { return 75 }
    return failed.isEmpty ? 0 : 1
  }
}

extension ThumbnailSet.Origin {
  /// Whether the body was not sent by anybody now.
  fileprivate var isCache: Bool {
    switch self {
    case .revalidated, .disk, .memory, .stale: true
    case .network, .file: false
    }
  }
}
