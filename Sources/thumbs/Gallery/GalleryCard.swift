import BatchFetch
import ImageCache

/// A row as shown in a gallery.
struct GalleryCard: Hashable, Sendable {
  /// A thumbnail on a card.
  struct Image: Hashable, Sendable {
    /// The URL that the page loads: relative to the page, or a `data:` URL that contains the image.
    var url: String
    /// The thumbnail's size in pixels.
    var size: PixelSize
    /// A `data:` URL of a blurred image to show until the thumbnail has loaded; nil for none.
    var blur: String?
  }

  /// The facts about the image of a card.
  struct Facts: Hashable, Sendable {
    /// The size and the format of the image: `1280 × 960 JPEG, 35.2 KiB`; nil if they are unknown.
    var image: String?
    /// The place that the image came from.
    var origin: String
    /// The length of the image in bytes, and the duration of its download; nil if they are unknown.
    var bytes: Int?
    var download: Duration?
    var warnings: [String] = []
  }

  /// The main part of a card.
  enum Content: Hashable, Sendable {
    /// The thumbnail for the grid, the largest one, and the path of its file.
    case image(Image, large: Image, path: String, Facts)
    /// The failure code and the reason.
    case failure(code: String, reason: String)
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
  /// The longest side of a thumbnail in the grid: larger ones are for the large view. If the page contains the images
  /// itself, the smallest thumbnail that looks sharp is enough.
  private static let (linkedSide, embeddedSide) = (512, 144)

  /// Creates the card for the row of `line`.
  init(_ line: ReportLine, subtitle: String?, images: GalleryImages) {
    let content: Content =
      switch line.outcome {
      case .failed(let failure): .failure(code: "\(failure.code)", reason: failure.message)
      case .skipped(_, let reason): .failure(code: "skipped", reason: reason)
      case .done(let set, let outputs):
        Self.content(set.thumbnails, outputs, images, set.placeholder, Facts(set))
      case .kept(let thumbnails, let outputs):
        Self.content(thumbnails, outputs, images, nil, Facts(origin: "a file of an earlier run"))
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
    _ thumbnails: [Thumbnail], _ outputs: [ReportLine.Output], _ images: GalleryImages, _ placeholder: Placeholder?,
    _ facts: Facts
  ) -> Content {
    let bySize = zip(thumbnails, outputs).sorted { $0.0.size.longerSide < $1.0.size.longerSide }
    let shown =
      images == .embedded
      ? bySize.first { $0.0.size.longerSide >= embeddedSide } ?? bySize.last
      : bySize.last { $0.0.size.longerSide <= linkedSide } ?? bySize.first
    guard let shown, let path = shown.1.path, let largest = images == .embedded ? shown : bySize.last,
      let largestPath = largest.1.path
    else { return .failure(code: "", reason: "There is no file.") }
    let image = Image(
      url: images.url(of: shown.0, at: path), size: shown.0.size, blur: images.blur(placeholder, for: shown.0))
    let large = Image(url: images.url(of: largest.0, at: largestPath), size: largest.0.size)
    return .image(image, large: large, path: largestPath, facts)
  }
}

extension GalleryCard.Facts {
  fileprivate init(_ set: ThumbnailSet) {
    let size = set.source.size
    self.init(
      image: "\(size.width) × \(size.height) \(set.source.format.rawValue.uppercased()), "
        + "\(ByteSize(count: set.sourceBytes))",
      origin: set.origin.words, bytes: set.sourceBytes,
      download: [.network, .revalidated].contains(set.origin) ? set.timings.download : nil, warnings: set.warnings)
  }
}

extension ThumbnailSet.Origin {
  /// The place that an image came from, in words.
  fileprivate var words: String {
    switch self {
    case .network: "the server"
    case .revalidated: "the cache, confirmed by the server"
    case .disk, .memory: "the cache"
    case .remote: "the remote cache"
    case .stale: "the cache, because the server failed"
    case .file: "a local file"
    }
  }
}

extension PixelSize {
  fileprivate var longerSide: Int { max(width, height) }
}

// MARK: Data

extension GalleryCard {
  /// The card as an object of JSON that a page may contain: without `<`, which could end its element, and without
  /// control characters. Empty members are left out.
  ///
  /// | member | meaning |
  /// |---|---|
  /// | `i`, `s` | the index and the status |
  /// | `n`, `t`, `u` | the title, the subtitle and the URL |
  /// | `f`, `w`, `h`, `b` | the thumbnail, its size and its blurred image |
  /// | `l`, `lw`, `lh`, `p` | the largest thumbnail if that is another one, its size, and the path of its file |
  /// | `d`, `o`, `z`, `m`, `x` | the facts: image, origin, bytes, milliseconds and warnings |
  /// | `c`, `r` | the failure code and the reason |
  var json: [UInt8] {
    var text = JSONText(capacity: 400)
    text.object { text in
      text.member("i", index)
      text.member("s", status?.rawValue ?? "waiting")
      text.member("n", Self.shown(title))
      text.member("t", Self.shown(subtitle))
      if let url { text.member("u", Self.shown(url)) }
      write(content, to: &text)
    }
    return text.bytes.contains(UInt8(ascii: "<"))
      ? Array(String(decoding: text.bytes, as: UTF8.self).replacing("<", with: "\\u003c").utf8) : text.bytes
  }

  private func write(_ content: Content, to text: inout JSONText) {
    switch content {
    case .waiting: break
    case .failure(let code, let reason):
      text.member("c", Self.shown(code))
      text.member("r", Self.shown(reason))
    case .image(let image, let large, let path, let facts):
      text.member("f", image.url)
      text.member("w", image.size.width)
      text.member("h", image.size.height)
      if let blur = image.blur { text.member("b", blur) }
      if large.url != image.url {
        text.member("l", large.url)
        text.member("lw", large.size.width)
        text.member("lh", large.size.height)
      }
      text.member("p", Self.shown(path))
      if let image = facts.image { text.member("d", image) }
      text.member("o", facts.origin)
      if let bytes = facts.bytes { text.member("z", bytes) }
      if let download = facts.download { text.member("m", download.wholeMilliseconds) }
      if !facts.warnings.isEmpty { text.member("x", Self.shown(facts.warnings.joined(separator: "; "))) }
    }
  }

  /// Replaces control characters by U+FFFD, and tabs and line ends by spaces.
  private static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\t", "\n", "\r": shown.append(" ")
      default: shown.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
      }
    }
    return String(shown)
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
