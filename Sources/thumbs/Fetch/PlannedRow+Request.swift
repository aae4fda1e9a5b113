import BatchFetch
import HTTPTypes

extension PlannedRow {
  /// Returns the request for this row. The row's header fields replace those in `headerFields` with the same names.
  /// Throws for a bad row.
  func request(headerFields: HTTPFields) throws(FetchFailure) -> ThumbnailRequest {
    switch entry {
    case .bad(let row): throw FetchFailure(.badRow, row.reason)
    case .row(let row):
      var request = ThumbnailRequest(
        url: row.url, specs: specs, headerFields: headerFields, priority: row.options.priority)
      request.mirrors = row.options.mirrors
      request.after = after
      for header in row.options.headers {
        if let name = HTTPField.Name(header.name) { request.headerFields[name] = header.value }
      }
      return request
    }
  }
}
