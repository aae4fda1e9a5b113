import BatchFetch
import HTTPTypes

extension PlannedRow {
  /// What to ask of the pipeline. A header field of the row takes the place of one of `headerFields` with its name.
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
