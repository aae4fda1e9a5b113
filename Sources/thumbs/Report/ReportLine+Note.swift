import BatchFetch

extension ReportLine {
  /// The row in one line for a person: `ok network 2 files http://…`, `failed http_404 http://… The server answered 404.`
  var note: String {
    let address = url ?? "row \(index)"
    switch outcome {
    case .done(let set, let outputs): return "ok \(set.origin.rawValue) \(address) -> \(outputs.paths)".printable
    case .failed(let failure): return "\(status.rawValue) \(failure.code) \(address) \(failure.message)".printable
    }
  }
}

extension [ReportLine.Output] {
  fileprivate var paths: String { map(\.path).joined(separator: " ") }
}
