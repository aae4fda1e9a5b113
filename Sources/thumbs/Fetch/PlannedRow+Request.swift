import BatchFetch
import HTTPTypes

extension PlannedRow {
  /// What to ask of the pipeline: what the row says, and `pixels` and `headerFields` where it says nothing. A field of
  /// the row takes the place of one with the same name.
  func request(pixels: PixelOptions, headerFields: HTTPFields) throws(FetchFailure) -> ThumbnailRequest {
    switch entry {
    case .bad(let row): throw FetchFailure(.badRow, row.reason)
    case .row(let row):
      let options = row.options
      let specs = options.sizes.isEmpty ? pixels.specs : pixels.specs(of: options.sizes)
      var request = ThumbnailRequest(
        url: row.url, specs: specs, headerFields: headerFields, priority: options.priority)
      request.mirrors = options.mirrors
      for header in options.headers {
        if let name = HTTPField.Name(header.name) { request.headerFields[name] = header.value }
      }
      return request
    }
  }
}
