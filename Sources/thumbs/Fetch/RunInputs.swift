import Glibc

/// The files that a run reads.
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
    /// The ends of the complete reports in it, without their line feeds.
    let ends: [[UInt8]]
    /// True if the report says that it lacks rows of its run, or was cut.
    let isPartial: Bool

    /// True if the report is a file with rows to update.
    var isUpdatable: Bool { path != "-" && version != nil && !lineNumbers.isEmpty }
  }

  /// The files that no thumbnail may replace: these inputs, and the files that the run adds.
  let reserved = ReservedFiles()
  /// The report of a retry; nil for a run over manifests.
  let retried: Retried?
  /// The paths of the files with the rows, as given on the command line.
  let paths: [String]
  private let files: [(path: String, role: FileRole)]

  /// Creates the inputs of a run over the manifests at `paths`; `-` is standard input. `settings` are the other files
  /// that its options name.
  init(manifests paths: [String], settings: [(path: String, role: FileRole)] = []) {
    self.paths = paths
    files = paths.map { ($0, .manifest($0)) } + settings
    retried = nil
  }

  /// Creates the inputs of a retry of `report`, which is at `path`. `settings` are the other files that its options
  /// name.
  init(_ report: RetryReport, at path: String, settings: [(path: String, role: FileRole)] = []) {
    paths = [path]
    files = [(path, .retriedReport(path))] + settings
    retried = Retried(
      path: path, version: report.version, lineNumbers: report.lineNumbers, otherLines: report.otherLines,
      ends: report.ends, isPartial: report.isKnownPartial)
    for case .row(let row) in report.rows.map(\.entry) { reserved.insert(sourcesOf: row) }
  }

  /// The role of each file.
  var roles: [FileIdentity: FileRole] {
    let identified = files.compactMap { path, role in Self.identity(of: path).map { ($0, role) } }
    return Dictionary(identified) { first, _ in first }
  }

  /// True if reading the rows may wait for another process. A report to retry has been read whole.
  var mayBlock: Bool { retried == nil && paths.contains { Self.identity(of: $0) == nil } }

  private static func identity(of path: String) -> FileIdentity? {
    path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path)
  }
}
