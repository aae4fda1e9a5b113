public import Foundation
public import HTTPTypes

extension DownloadRequest {
  /// Creates a request for the bytes at `url`, which may contain spaces and non-ASCII letters.
  ///
  /// - Throws: `bad_url` if `url` is not an absolute URL, `blocked_scheme` for schemes other than http, https and file.
  public init(
    url: String, headerFields: HTTPFields = [:], priority: Priority = .normal, inspection: Inspection? = nil
  ) throws(FetchFailure) {
    self.init(
      source: try SourceURL(url), headerFields: headerFields, priority: priority, inspection: inspection)
  }

  /// Creates a request for the bytes at `url`.
  ///
  /// - Throws: `bad_url` if `url` is relative or has no host, `blocked_scheme` for schemes other than http, https and
  ///   file.
  public init(
    url: URL, headerFields: HTTPFields = [:], priority: Priority = .normal, inspection: Inspection? = nil
  ) throws(FetchFailure) {
    self.init(
      source: try SourceURL(url), headerFields: headerFields, priority: priority, inspection: inspection)
  }
}
