import BatchFetch

/// The totals of a run.
struct Summary: Hashable, Sendable {
  /// The number of rows that have their files, by origin.
  private(set) var done: [ThumbnailSet.Origin: Int] = [:]
  /// The number of rows whose files were left alone.
  private(set) var kept = 0
  /// The number of rows that failed, by failure code.
  private(set) var failed: [FailureCode: Int] = [:]
  /// The number of rows that were canceled.
  private(set) var cancelled = 0
  /// The number of rows that a retry skipped, because the report lacks something that they need.
  private(set) var skipped = 0
  /// The number of files written.
  private(set) var writtenFiles = 0
  /// The number of files that had the right contents already.
  private(set) var unchangedFiles = 0
  /// The total length in bytes of the images that came from the cache and were not downloaded.
  private(set) var savedBytes = 0
  /// The rows per host.
  private(set) var hosts = HostTally()

  /// Creates an empty summary.
  init() {}

  /// Counts the row of `line`.
  mutating func count(_ line: ReportLine) {
    hosts.count(line)
    switch (line.outcome, line.status) {
    case (.skipped, _): skipped += 1
    case (_, .cancelled): cancelled += 1
    case (.failed(let failure), _): failed[failure.code, default: 0] += 1
    case (.kept(_, let outputs), _):
      kept += 1
      unchangedFiles += outputs.count
    case (.done(let set, let outputs), _):
      done[set.origin, default: 0] += 1
      unchangedFiles += outputs.count { $0.outcome == .unchanged }
      writtenFiles += outputs.count { $0.outcome == .written }
      if set.origin.isCache { savedBytes += set.sourceBytes }
    }
  }
}

extension Summary {
  /// The number of rows that have their files.
  var doneCount: Int { done.values.reduce(kept, +) }
  /// The number of rows that have their files, by `origin` of the report.
  var origins: [(name: String, count: Int)] {
    done.map { ($0.rawValue, $1) } + (kept > 0 ? [(ReportLine.existing, kept)] : [])
  }
  /// The number of rows that failed.
  var failedCount: Int { failed.values.reduce(0, +) }
  /// The number of all rows.
  var total: Int { doneCount + failedCount + cancelled + skipped }
  /// True if at least one failure is worth retrying.
  var hasRetryableFailure: Bool { failed.keys.contains(where: \.isRetryable) }

  /// The exit status of a run that was not interrupted: 0 if no row failed, 75 (`EX_TEMPFAIL`) if at least one failure
  /// is worth retrying or a row was skipped, and 1 otherwise.
  var exitCode: Int32 {
    if skipped > 0 || hasRetryableFailure { return 75 }
    return failed.isEmpty ? 0 : 1
  }
}

extension ThumbnailSet.Origin {
  /// True if the image came from the cache.
  fileprivate var isCache: Bool {
    switch self {
    case .revalidated, .disk, .memory, .remote, .stale: true
    case .network, .file: false
    }
  }
}
