import BatchFetch

/// The images of a feed or a sitemap: RSS 2.0 and 1.0 with the extensions for media and podcasts, Atom (RFC 4287),
/// and sitemaps with images.
struct Feed: Sendable {
  /// An image, with the title of its entry.
  struct Item: Hashable, Sendable {
    var url: String
    var title: String?
  }

  /// The kind of a document.
  enum Kind: String, Hashable, Sendable {
    case feed, sitemap, sitemapIndex

    /// The kind of a document whose root element has this name; nil for others.
    init?(root: String) {
      switch root.split(separator: ":").last.map(String.init) {
      case "rss", "feed", "RDF": self = .feed
      case "urlset": self = .sitemap
      case "sitemapindex": self = .sitemapIndex
      default: return nil
      }
    }
  }

  /// The ways in which an entry names its image, the best first.
  private enum Source: Int, CaseIterable {
    case media, enclosure, podcast, thumbnail, text
  }

  private(set) var kind: Kind?
  private(set) var items: [Item] = []
  private let url: SourceURL?
  private var path: [String] = []
  private var entry: [Source: String] = [:]
  private var title: String?
  private var text = ""

  /// Reads a document in UTF-8, whose URL is `url`; nil for one that is a file.
  init(_ bytes: [UInt8], at url: SourceURL?) {
    self.url = url
    var tokenizer = MarkupTokenizer(bytes, .xml)
    while let token = tokenizer.next() {
      switch token {
      case .text(let part): if text.utf8.count < 1 << 20 { text += part }
      case .tag(let tag):
        if tag.isEnd { end(tag.name) } else { begin(tag) }
      }
    }
  }

  private mutating func begin(_ tag: MarkupTokenizer.Tag) {
    text = ""
    if path.isEmpty, kind == nil { kind = Kind(root: tag.name) }
    if Self.isEntry(tag.name) { (entry, title) = ([:], nil) }
    take(tag)
    if !tag.isEmpty, path.count < 200 { path.append(tag.name) }
  }

  private static func isEntry(_ name: String) -> Bool { name == "item" || name == "entry" }

  private var isInEntry: Bool { path.contains(where: Self.isEntry) }

  private mutating func take(_ tag: MarkupTokenizer.Tag) {
    guard isInEntry else { return }
    switch tag.name {
    case "media:content" where tag["medium"] == "image" || Self.isImage(tag): note(tag["url"], as: .media)
    case "media:thumbnail": note(tag["url"], as: .thumbnail)
    case "enclosure" where Self.isImage(tag): note(tag["url"], as: .enclosure)
    case "link" where tag["rel"] == "enclosure" && Self.isImage(tag): note(tag["href"], as: .enclosure)
    case "itunes:image": note(tag["href"], as: .podcast)
    default: break
    }
  }

  private static func isImage(_ tag: MarkupTokenizer.Tag) -> Bool {
    if let type = tag["type"]?.lowercased() { return type.hasPrefix("image/") }
    return (tag["url"] ?? tag["href"] ?? "").prefix { $0 != "?" && $0 != "#" }.hasImageExtension
  }

  private mutating func note(_ url: String?, as source: Source) {
    guard let url = url?.trimmingWhitespace(), !url.isEmpty, entry[source] == nil else { return }
    entry[source] = url
  }

  private mutating func end(_ name: String) {
    guard let open = path.lastIndex(of: name) else { return }
    path.removeSubrange(open...)
    let text = text.trimmingWhitespace()
    switch name {
    case "title" where isInEntry && title == nil: title = text
    case "description", "content:encoded", "content", "summary":
      if isInEntry { note(Self.image(inText: text), as: .text) }
    case "image:loc": if !text.isEmpty { items.append(Item(url: text)) }
    case "image:title": if let last = items.indices.last, !text.isEmpty { items[last].title = text }
    case "item", "entry":
      let best = Source.allCases.compactMap { entry[$0] }.first
      if let best { items.append(Item(url: WebPage.resolve(best, against: url)?.description ?? best, title: title)) }
      entry = [:]
    default: break
    }
    self.text = ""
  }

  /// Returns the first image of a text in HTML, whose markup is text in the feed.
  private static func image(inText text: String) -> String? {
    guard text.contains("<img") || text.contains("<IMG") else { return nil }
    return WebPage(Array(text.utf8), at: nil).images.first?.candidates.first?.url
  }
}
