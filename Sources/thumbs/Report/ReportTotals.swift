/// The totals of a report. Bounded, however many rows and hosts the report has.
struct ReportTotals: Hashable, Sendable {
  /// The rows that failed with one code.
  struct Failures: Hashable, Sendable {
    var rows = 0
    /// True if a retry may succeed.
    var isRetryable = false
  }

  /// A row with a slow download.
  struct SlowRow: Hashable, Sendable {
    var index: Int
    var url: String
    var download: Duration
  }

  /// The number of slow rows that are kept.
  static let slowRows = 10
  /// The maximum number of origins and of codes that are counted separately. Those that `thumbs` writes are fewer.
  private static let names = 200
  /// The name for all others.
  private static let otherName = "other"

  /// The number of rows by status.
  private(set) var rows: [ReportLine.Status: Int] = [:]
  /// The number of rows that succeeded, by origin.
  private(set) var origins: [String: Int] = [:]
  /// The rows that failed, by code.
  private(set) var failures: [String: Failures] = [:]
  /// The number of rows with the fallback image.
  private(set) var fallbacks = 0
  /// The number of files.
  private(set) var files = 0
  /// The total length of the files in bytes.
  private(set) var fileBytes = 0
  /// The total length of the images in bytes.
  private(set) var imageBytes = 0
  /// The rows per host.
  private(set) var hosts = HostTally()
  /// The rows with the slowest downloads, slowest first.
  private(set) var slowest: [SlowRow] = []

  /// The number of all rows.
  var total: Int { rows.values.reduce(0, +) }
  /// True if a retry of some failed row may succeed.
  var isWorthRetrying: Bool { failures.values.contains(where: \.isRetryable) || rows[.cancelled] != nil }

  /// Counts `row`.
  mutating func count(_ row: ReportRow) {
    rows[row.status, default: 0] += 1
    files += row.fileBytes.count
    fileBytes = row.fileBytes.reduce(fileBytes, &+)
    imageBytes &+= row.imageBytes
    if row.hasFallback { fallbacks += 1 }
    switch row.status {
    case .ok: countSuccess(row)
    case .failed: countFailure(row)
    case .cancelled: break
    }
  }

  private mutating func countSuccess(_ row: ReportRow) {
    let origin = row.origin ?? Self.otherName
    origins[origins[origin] != nil || origins.count < Self.names ? origin : Self.otherName, default: 0] += 1
    let isDownload = row.origin == "network" || row.origin == "revalidated"
    hosts.count(rowOf: SourceURLParts(row.url ?? "").host) { host in
      host.rows += 1
      guard isDownload, let download = row.download else { return }
      host.downloads += 1
      host.time += download
    }
    if isDownload, let download = row.download { keep(row, download) }
  }

  private mutating func countFailure(_ row: ReportRow) {
    let code = row.code ?? Self.otherName
    let key = failures[code] != nil || failures.count < Self.names ? code : Self.otherName
    failures[key, default: Failures()].rows += 1
    if row.isRetryable { failures[key]?.isRetryable = true }
    hosts.count(rowOf: SourceURLParts(row.url ?? "").host) { host in
      host.rows += 1
      host.failed += 1
    }
  }

  private mutating func keep(_ row: ReportRow, _ download: Duration) {
    if slowest.count == Self.slowRows, let last = slowest.last, last.download >= download { return }
    let place = slowest.firstIndex { $0.download < download } ?? slowest.endIndex
    slowest.insert(SlowRow(index: row.index, url: row.url ?? "", download: download), at: place)
    if slowest.count > Self.slowRows { slowest.removeLast() }
  }
}
