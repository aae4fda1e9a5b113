/// The purpose of a file that a run reads or writes. Thumbnails never replace it.
enum FileRole: Hashable, Sendable {
  /// The manifest at this path; `-` is standard input.
  case manifest(String)
  /// The report to retry, at this path; `-` is standard input.
  case retriedReport(String)
  /// The file of `--hosts`.
  case hosts
  /// The file of `--fallback`.
  case fallback
  /// A file that the option of this name reads.
  case setting(String)
  /// The configuration file.
  case configuration
  /// A local image that a row names.
  case source
  /// The file of `--report`.
  case report
  /// The file of `--summary`.
  case summary
  /// The file of `--gallery`.
  case gallery
  /// The file of `--metrics`.
  case metrics
}

extension FileRole: CustomStringConvertible {
  /// `the manifest list.txt`, `the report`.
  var description: String {
    switch self {
    case .manifest("-"), .retriedReport("-"): "standard input"
    case .manifest(let path): "the manifest \(path)"
    case .retriedReport(let path): "the report to retry, \(path)"
    case .hosts: "the file of --hosts"
    case .fallback: "the file of --fallback"
    case .setting(let option): "a file of --\(option)"
    case .configuration: "the configuration file"
    case .source: "a source image"
    case .report: "the report"
    case .summary: "the summary"
    case .gallery: "the gallery"
    case .metrics: "the metrics file"
    }
  }
}
