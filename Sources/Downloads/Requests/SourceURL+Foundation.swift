public import Foundation

extension SourceURL {
  /// Creates the canonical form of `url`.
  ///
  /// - Throws: `bad_url` if `url` is relative or has no host, `blocked_scheme` for schemes other than http, https and
  ///   file.
  public init(_ url: URL) throws(FetchFailure) { try self.init(url.absoluteString) }
}
