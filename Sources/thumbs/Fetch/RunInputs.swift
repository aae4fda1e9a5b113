import Glibc

/// The files that a run reads its rows from.
struct RunInputs: Sendable {
  /// A report whose rows are retried.
  struct Retried: Sendable {
    /// The path of the report; `-` is standard input.
    let path: String
    /// The version of the file that was read; nil for a pipe.
    let version: FileVersion?
    /// The line numbers of the retried rows, from 1.
    let lineNumbers: [Int]
    /// The line numbers of lines that are not rows.
    let otherLines: Set<Int>
    /// True if the report lacks rows of its run.
    let isPartial: Bool
  }

  /// The files that no thumbnail may replace: these inputs, and the files that the run adds.
  let reserved = ReservedFiles()
  /// The report of a retry; nil for a run over manifests.
  let retried: Retried?
  private let files: [(path: String, role: FileRole)]

  /// Creates the inputs of a run over the manifests at `paths`; `-` is standard input.
  init(manifests paths: [String]) {
    files = paths.map { ($0, .manifest($0)) }
    retried = nil
  }

  /// Creates the inputs of a retry of `report`, which is at `path`.
  init(_ report: RetryReport, at path: String) {
    files = [(path, .retriedReport(path))]
    retried = Retried(
      path: path, version: report.version, lineNumbers: report.lineNumbers, otherLines: report.otherLines,
      isPartial: report.isPartial)
    for case .row(let row) in report.rows.map(\.entry) { reserved.insert(sourcesOf: row) }
  }

  /// The paths as given on the command line.
  var paths: [String] { files.map(\.path) }

  /// The role of each file.
  var roles: [FileIdentity: FileRole] {
    let identified = files.compactMap { path, role in
      (path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)).map { ($0, role) }
    }
    return Dictionary(identified) { first, _ in first }
  }
}
