import ArgumentParser
import BatchFetch
import ImageCache

/// One source of a cache, by its address or by the beginning of its key.
struct SourceSelector: Hashable, Sendable, ExpressibleByArgument {
  /// Six digits tell apart a million sources nearly always, and are no address.
  private static let shortestPrefix = 6

  let text: String

  init(argument: String) { text = argument }

  /// The source in question.
  ///
  /// - Throws: A ``Failure`` where there is none, or more than one.
  func source(in inspector: CacheInspector) throws -> ListedSource {
    if let url = try? SourceURL(text), let source = try inspector.source(of: SourceKey(url: url.description)) {
      return source
    }
    guard text.utf8.count >= Self.shortestPrefix else { throw Failure(candidates: [], text: text) }
    let found = try inspector.sources(withPrefix: text)
    guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
    return found[0]
  }

  /// Nothing, or more than one thing, is called so.
  struct Failure: Error, CustomStringConvertible {
    let candidates: [SourceKey]
    let text: String

    var description: String {
      let text = CacheText.redacted(CacheText.field(text))
      if candidates.isEmpty { return "There is no source \(text) in the cache." }
      let keys = candidates.map { "  \($0)" }.joined(separator: "\n")
      return "\(text) is the beginning of several keys:\n\(keys)"
    }
  }
}
