import ArgumentParser
import BatchFetch
import ImageCache

/// A reference to one source in a cache, by its URL or a prefix of its key.
struct SourceSelector: Hashable, Sendable, ExpressibleByArgument {
  /// The minimum length of a key prefix. Six digits are nearly always unique, even among a million sources.
  private static let shortestPrefix = 6

  let text: String

  init(argument: String) { text = argument }

  /// Returns the source.
  ///
  /// - Throws: A ``Failure`` if no source matches, or more than one.
  func source(in inspector: CacheInspector) throws -> ListedSource {
    if let url = try? SourceURL(text) {
      if let source = try inspector.source(of: SourceKey(url: url.description)) { return source }
      // Header fields and credentials are a part of the key.
      let found = try inspector.sources(ofURL: url.description)
      guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
      return found[0]
    }
    guard text.utf8.count >= Self.shortestPrefix else { throw Failure(candidates: [], text: text) }
    let found = try inspector.sources(withPrefix: text)
    guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
    return found[0]
  }

  /// The error for a reference that matches no source, or more than one.
  struct Failure: Error, CustomStringConvertible {
    let candidates: [SourceKey]
    let text: String

    var description: String {
      let text = CacheText.redacted(CacheText.field(text))
      if candidates.isEmpty { return "There is no source \(text) in the cache." }
      let keys = candidates.map { "  \($0)" }.joined(separator: "\n")
      return "\(text) matches several keys:\n\(keys)"
    }
  }
}
