import BatchFetch

extension ReportLine {
  /// The line of `--verbose`: `ok network http://… -> a.jpg`, or the failure code, URL and message of a failed row. A
  /// skipped row has no code.
  var note: String {
    let source = url ?? "row \(index)"
    switch outcome {
    case .done(let set, let outputs): return "ok \(set.origin.rawValue) \(source) -> \(outputs.paths)".printable
    case .kept(_, let outputs): return "ok \(Self.existing) \(source) -> \(outputs.paths)".printable
    case .failed(let failure): return "\(status.rawValue) \(failure.code) \(source) \(failure.message)".printable
    case .skipped(_, let reason): return "skipped \(source) \(reason)".printable
    }
  }
}

extension [ReportLine.Output] {
  fileprivate var paths: String { compactMap(\.path).joined(separator: " ") }
}
