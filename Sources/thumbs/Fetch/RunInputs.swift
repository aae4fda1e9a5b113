import Glibc

/// What a run reads its rows from.
struct RunInputs: Sendable {
  /// A report whose rows are tried again.
  struct Retried: Sendable {
    /// Its path; `-` is standard input.
    let path: String
    /// The numbers of the lines of these rows, from 1.
    let lineNumbers: [Int]
  }

  /// The files that no thumbnail may replace: those that are read here, and what the run adds.
  let reserved = ReservedFiles()
  /// The report of a retry; nil for a run over manifests.
  let retried: Retried?
  private let files: [(path: String, role: FileRole)]

  /// The manifests at `paths`; `-` is standard input.
  init(manifests paths: [String]) {
    files = paths.map { ($0, .manifest($0)) }
    retried = nil
  }

  /// The report at `path`, of which the rows of the lines `lineNumbers` are tried.
  init(report path: String, lineNumbers: [Int]) {
    files = [(path, .retriedReport(path))]
    retried = Retried(path: path, lineNumbers: lineNumbers)
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
