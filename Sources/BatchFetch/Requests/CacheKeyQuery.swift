internal import Foundation

/// The parameters in the query of a URL that decide which image it leads to. Others, such as signatures and their
/// dates, change with each request for the same image.
public enum CacheKeyQuery: Hashable, Sendable {
  /// All parameters, in their order.
  case all
  /// Those with one of these names, in their order. An empty set ignores the whole query.
  case only(Set<String>)

  /// Returns the URL that stands for `source` in the key of its cache entry; nil for `source` itself.
  func key(of source: SourceURL) -> String? {
    let url = source.description
    guard case .only(let names) = self, let mark = url.firstIndex(of: "?") else { return nil }
    let kept = url[url.index(after: mark)...].split(separator: "&").filter { names.contains(Self.name(of: $0)) }
    return kept.isEmpty ? String(url[..<mark]) : "\(url[...mark])\(kept.joined(separator: "&"))"
  }

  private static func name(of parameter: Substring) -> String {
    let name = parameter.prefix { $0 != "=" }
    return name.removingPercentEncoding ?? String(name)
  }
}
