import BatchFetch
import HTTPTypes

extension PlannedRow {
  /// Returns the request for this row. The row's header fields replace those in `headerFields` with the same names.
  /// Throws for a bad row, and for one that does not meet the `demand`.
  func request(headerFields: HTTPFields, demand: RowDemand = .none) throws(FetchFailure) -> ThumbnailRequest {
    switch entry {
    case .bad(let row): throw FetchFailure(.badRow, row.reason)
    case .row(let row):
      if demand == .digest, row.options.digest == nil {
        throw FetchFailure(.badRow, "The row has no SHA-256 of its image, and --require-hash demands one.")
      }
      var request = ThumbnailRequest(
        url: row.url, specs: specs, headerFields: headerFields, priority: row.options.priority)
      request.digest = row.options.digest
      request.mirrors = row.options.mirrors
      request.after = after
      for header in row.options.headers {
        if let name = HTTPField.Name(header.name) { request.headerFields[name] = header.value }
      }
      return request
    }
  }
}
