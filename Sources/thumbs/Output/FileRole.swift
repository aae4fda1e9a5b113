/// The purpose of a file in a run. No thumbnail replaces such a file.
enum FileRole: Hashable, Sendable {
  /// A list of what to fetch, by its path; `-` is standard input.
  case manifest(String)
  /// The report whose failures are retried, by its path.
  case retriedReport(String)
  /// A local image of some row.
  case source
  /// The file of `--report`.
  case report
  /// The file of `--summary`.
  case summary
  /// The file of `--gallery`.
  case gallery
}

extension FileRole: CustomStringConvertible {
  /// `the manifest list.txt`, `the report`.
  var description: String {
    switch self {
    case .manifest("-"), .retriedReport("-"): "standard input"
    case .manifest(let path): "the manifest \(path)"
    case .retriedReport(let path): "the report to retry, \(path)"
    case .source: "a source image"
    case .report: "the report"
    case .summary: "the summary"
    case .gallery: "the gallery"
    }
  }
}
