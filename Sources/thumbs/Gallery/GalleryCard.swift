import BatchFetch
import ImageCache

/// A row as shown in a gallery.
struct GalleryCard: Hashable, Sendable {
  /// The thumbnail on a card.
  struct Image: Hashable, Sendable {
    /// The URL that the page loads: relative to the page, or a `data:` URL that contains the image.
    var url: String
    /// The thumbnail's size in pixels.
    var size: PixelSize
    /// A `data:` URL of a blurred image to show until the thumbnail has loaded; nil for none.
    var blur: String?
  }

  /// The main part of a card.
  enum Content: Hashable, Sendable {
    /// A thumbnail, and facts about its source: `1280 × 960 JPEG, network`.
    case image(Image, facts: String)
    /// A placeholder with the failure code and the reason.
    case placeholder(code: String, reason: String)
    /// An empty space, as long as the row has not finished.
    case waiting
  }

  /// The row's place among all rows, from 0.
  var index: Int
  /// The `status` in the report; nil as long as the row has not finished.
  var status: ReportLine.Status?
  /// The row's name, or else the last part of its URL.
  var title: String
  /// The second line: the row's subtitle, or else the host.
  var subtitle: String
  /// The source's URL without credentials; nil for a bad row.
  var url: String?
  /// The main part of the card.
  var content: Content
}

extension GalleryCard {
  /// The shortest longer side of a thumbnail, in pixels, that looks sharp at the size of a card.
  private static let sharpSide = 144

  /// Creates the card for the row of `line`.
  init(_ line: ReportLine, subtitle: String?, images: GalleryImages) {
    let content: Content =
      switch line.outcome {
      case .failed(let failure): .placeholder(code: "\(failure.code)", reason: failure.message)
      case .skipped(_, let reason): .placeholder(code: "skipped", reason: reason)
      case .done(let set, let outputs): Self.content(set, outputs, images)
      case .kept(let thumbnails, let outputs): Self.content(thumbnails, outputs, images)
      }
    self.init(
      index: line.index, status: line.status, name: line.name, subtitle: subtitle, url: line.url, content: content)
  }

  /// Creates the card for a row that has not finished, without the credentials of its URL.
  init(waiting row: ManifestRow) {
    self.init(
      index: row.index, status: nil, name: row.name.map { Redaction.label($0, about: row.urls) },
      subtitle: ManifestEntry.row(row).subtitle, url: Redaction.url(row.url), content: .waiting)
  }

  private init(
    index: Int, status: ReportLine.Status?, name: String?, subtitle: String?, url: String?, content: Content
  ) {
    let source = url.map { SourceURLParts($0) }
    self.init(
      index: index, status: status, title: name ?? source?.stem ?? "Row \(UInt(clamping: index) + 1)",
      subtitle: subtitle ?? source?.host ?? "", url: url, content: content)
  }

  private static func content(
    _ set: ThumbnailSet, _ outputs: [ReportLine.Output], _ images: GalleryImages
  ) -> Content {
    let size = set.source.size
    let facts = "\(size.width) × \(size.height) \(set.source.format.rawValue.uppercased()), \(set.origin.rawValue)"
    return content(
      set.thumbnails, outputs, images, placeholder: set.placeholder,
      facts: ([facts] + set.warnings).joined(separator: "; "))
  }

  /// Shows the smallest thumbnail that looks sharp, or else the largest.
  private static func content(
    _ thumbnails: [Thumbnail], _ outputs: [ReportLine.Output], _ images: GalleryImages,
    placeholder: Placeholder? = nil, facts: String = ReportLine.existing
  ) -> Content {
    let bySize = zip(thumbnails, outputs).sorted { $0.0.size.longerSide < $1.0.size.longerSide }
    let shown = bySize.first { $0.0.size.longerSide >= sharpSide } ?? bySize.last
    guard let (thumbnail, output) = shown, let path = output.path else {
      return .placeholder(code: "", reason: "There is no file.")
    }
    let image = Image(
      url: images.url(of: thumbnail, at: path), size: thumbnail.size, blur: images.blur(placeholder, for: thumbnail))
    return .image(image, facts: facts)
  }
}

extension PixelSize {
  fileprivate var longerSide: Int { max(width, height) }
}

// MARK: HTML

extension GalleryCard {
  /// The card as an item of the page's list, on one line.
  ///
  /// Each card is a link to its thumbnail, or to the source if there is no thumbnail, so that the list is useful
  /// without the script. Only `http` and `https` URLs from a manifest are linked.
  var html: [UInt8] {
    var html = HTMLText()
    html.markup("<li")
    html.attribute("class", status?.rawValue ?? "waiting")
    html.markup("><a")
    html.attribute("id", "row-\(index)")
    html.attribute("href", target)
    if let url { html.attribute("data-url", url) }
    html.markup(">")
    writeImage(to: &html)
    html.markup("<span class=text><b dir=auto>")
    html.text(title)
    html.markup("</b><span class=subtitle dir=auto>")
    html.text(subtitle)
    html.markup("</span>")
    writeNote(to: &html)
    html.markup("</span></a></li>\n")
    return html.bytes
  }

  private var target: String {
    let itself = "#row-\(index)"
    switch content {
    case .image(let image, _): return image.url.hasPrefix("data:") ? itself : image.url
    case .placeholder, .waiting: return url.flatMap { isWeb($0) ? $0 : nil } ?? itself
    }
  }

  private func isWeb(_ url: String) -> Bool {
    let url = url.prefix(8).lowercased()
    return url.hasPrefix("http://") || url.hasPrefix("https://")
  }

  /// Writes the `img` element, with its size so that the layout is known before the image loads, or the placeholder.
  /// The browser loads an image only when it is near the screen.
  private func writeImage(to html: inout HTMLText) {
    guard case .image(let image, _) = content else {
      return html.markup("<svg class=image aria-hidden=true><use href=\"#none\"/></svg>")
    }
    html.markup("<img class=image alt=\"\" loading=lazy decoding=async")
    html.attribute("width", image.size.width)
    html.attribute("height", image.size.height)
    if let blur = image.blur { html.attribute("style", "background-image:url(\(blur))") }
    html.attribute("src", image.url)
    html.markup(">")
  }

  private func writeNote(to html: inout HTMLText) {
    switch content {
    case .image(_, let facts):
      html.markup("<small>")
      html.text(facts)
    case .placeholder(let code, let reason):
      html.markup("<small")
      html.attribute("title", reason)
      html.markup("><code>")
      html.text(code)
      html.markup("</code> ")
      html.text(reason)
    case .waiting:
      html.markup("<small>Waiting")
    }
    html.markup("</small>")
  }
}

/// Builds HTML piece by piece. Untrusted text can enter only through ``text(_:)`` and ``attribute(_:_:)``, which escape
/// everything that could be markup.
struct HTMLText: Hashable, Sendable {
  /// The HTML so far, in UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Creates an empty text.
  init() {}

  /// Appends markup unchanged. It is a `StaticString`, so that it can only come from the source code.
  mutating func markup(_ markup: StaticString) {
    markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Appends text between two tags.
  mutating func text(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  /// Appends an attribute after a tag's name: ` alt="…"`.
  mutating func attribute(_ name: StaticString, _ value: String) {
    markup(" ")
    markup(name)
    markup("=\"")
    text(value)
    markup("\"")
  }

  /// Appends an attribute whose value is a number.
  mutating func attribute(_ name: StaticString, _ value: Int) {
    attribute(name, String(value))
  }

  /// Appends an escaped character. Characters that could begin or end markup or an attribute become references (HTML,
  /// section 13.1.4). Control characters become U+FFFD, because references to them are invalid as well (13.2.2).
  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "&": markup("&amp;")
    case "<": markup("&lt;")
    case ">": markup("&gt;")
    case "\"": markup("&quot;")
    case "'": markup("&#39;")
    case "\t", "\n": bytes.append(UInt8(ascii: " "))
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": markup("\u{FFFD}")
    default: bytes.append(contentsOf: String(scalar).utf8)
    }
  }
}
