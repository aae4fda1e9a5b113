import Glibc

/// The files that a run reads its rows from.
struct RunInputs: Sendable {
  /// A report whose rows are tried again.
  struct Retried: Sendable {
    /// Its path; `-` is standard input.
    let path: String
    /// The file as it was read; nil for a pipe.
    let version: FileVersion?
    /// The numbers of the lines of these rows, from 1.
    let lineNumbers: [Int]
    /// The numbers of lines that are no rows.
    let otherLines: Set<Int>
    /// Whether the report lacks rows of its run.
    let isPartial: Bool
  }

  /// The files that no thumbnail may replace: these, and those that the run adds.
  let reserved = ReservedFiles()
  /// The report of a retry; nil for a run over manifests.
  let retried: Retried?
  private let files: [(path: String, role: FileRole)]

  /// The manifests at `paths`; `-` is standard input.
  init(manifests paths: [String]) {
    files = paths.map { ($0, .manifest($0)) }
    retried = nil
  }

  /// The `report` at `path`, whose rows are tried again.
  init(_ report: RetryReport, at path: String) {
    files = [(path, .retriedReport(path))]
    retried = Retried(
      path: path, version: report.version, lineNumbers: report.lineNumbers, otherLines: report.otherLines,
      isPartial: report.isPartial)
    for case .row(let row) in report.rows.map(\.entry) { reserved.insert(sourcesOf: row) }
  }

  /// The paths, for people.
  var paths: [String] { files.map(\.path) }

  /// The role of each file.
  var roles: [FileIdentity: FileRole] {
    let identified = files.compactMap { path, role in
      (path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)).map { ($0, role) }
    }
    return Dictionary(identified) { first, _ in first }
  }
}
