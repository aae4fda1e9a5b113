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
  /// The file with the certificate authorities of the system.
  case authorities
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
    case .setting(let option): "a file that --\(option) reads"
    case .configuration: "the configuration file"
    case .authorities: "the file of certificate authorities"
    case .source: "a source image"
    case .report: "the report"
    case .summary: "the summary"
    case .gallery: "the gallery"
    case .metrics: "the metrics file"
    }
  }
}
