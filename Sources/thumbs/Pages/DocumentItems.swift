import BatchFetch
import ImageCache

/// The images of a document that is a list: a saved web page, a feed, a sitemap or a text in Markdown.
enum DocumentItems {
  /// The longest document, in bytes: that of a sitemap (sitemaps.org).
  private static let maxBytes = 50 << 20

  /// Reads the document in `reader`. Relative URLs that it cannot resolve itself stay as they are.
  static func read(
    _ reader: inout LineReader, _ format: ManifestFormat, side: Int
  ) throws(InputError) -> [ManifestItem] {
    guard let bytes = try reader.rest(limit: maxBytes) else {
      throw InputError(reader.name, "is larger than \(ByteSize(count: maxBytes))")
    }
    let text = PageEncoding.utf8(bytes, contentType: nil)
    switch format {
    case .feed: return try items(of: Feed(text, at: nil), reader.name)
    case .markdown: return MarkdownImages(String(decoding: text, as: UTF8.self), side: side).items
    default:
      let page = WebPage(text, at: nil)
      return page.found(.images, side: side).map {
        ManifestItem(name: $0.text, content: .url(page.base == nil ? $0.url : page.resolved($0.url)))
      }
    }
  }

  private static func items(of feed: Feed, _ name: String) throws(InputError) -> [ManifestItem] {
    guard feed.kind != .sitemapIndex else {
      throw InputError(name, "is an index of sitemaps; give the sitemaps that it names")
    }
    return feed.items.map { ManifestItem(name: $0.title, content: .url($0.url)) }
  }
}

/// The images of a text in Markdown: `![text](url "title")`, and those of HTML in it.
private struct MarkdownImages {
  let items: [ManifestItem]

  init(_ text: String, side: Int) {
    let marks = text.matches(of: #/!\[([^\]\n]*)\]\(\s*<?([^\s<>\)]+)/#)
    let images = marks.map { ManifestItem(name: String($0.1), content: .url(String($0.2))) }
    let page = WebPage(Array(text.utf8), at: nil)
    items = images + page.found(.images, side: side).map { ManifestItem(name: $0.text, content: .url($0.url)) }
  }
}

/// A file of another program, which people take for a list. The raw values are the ends of sentences about them.
enum ForeignFile: String, CaseIterable {
  case workbook = "is an Excel workbook or another ZIP archive; save the table as CSV or as Unicode text"
  case oldWorkbook = "is an old Excel or Word file; save the table as CSV or as Unicode text"
  case parquet = "is a Parquet file, which the Python package reads; convert it to CSV"
  case pdf = "is a PDF file, not a list of URLs"
  case database = "is an SQLite database; export a table as CSV"

  /// Recognizes a file by its first bytes; nil for others.
  init?(_ start: ArraySlice<UInt8>) {
    let signatures: [(ForeignFile, [UInt8])] = [
      (.workbook, [0x50, 0x4B, 0x03, 0x04]), (.oldWorkbook, [0xD0, 0xCF, 0x11, 0xE0]), (.parquet, Array("PAR1".utf8)),
      (.pdf, Array("%PDF-".utf8)), (.database, Array("SQLite format 3".utf8)),
    ]
    guard let found = signatures.first(where: { start.starts(with: $0.1) }) else { return nil }
    self = found.0
  }
}

/// The kind of a document that begins with `<`.
enum MarkupDocument: Hashable, Sendable {
  case page
  case feed(Feed.Kind)
  case other

  /// Recognizes a document by its root element or its document type; nil if more bytes decide.
  init?(startingWith bytes: some Collection<UInt8>) {
    switch MarkupPrologue.root(of: Array(bytes).span) {
    case .undecided: return nil
    case .none: self = .other
    case .element(let name):
      let isPage = ["html", "head", "body", "div", "img", "p", "meta", "title"].contains(name.lowercased())
      self = Feed.Kind(root: name).map(Self.feed) ?? (isPage ? .page : .other)
    }
  }

  /// Returns the feed or sitemap in `bytes`; nil for any other document.
  func feed(_ bytes: [UInt8], at url: SourceURL) -> Feed? {
    guard case .feed = self else { return nil }
    return Feed(bytes, at: url)
  }
}
