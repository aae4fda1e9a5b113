import ArgumentParser
import BatchFetch
import Glibc

/// The images that a web page declares, in the order of the page.
struct WebPage: Sendable {
  /// An image of the page.
  struct Image: Hashable, Sendable {
    /// The files of the image: the candidates of `srcset` with their widths or densities, and that of `src`.
    var candidates: [Candidate]
    /// The text that stands for the image, for its name.
    var text: String?
    /// The declared size, if the page has it.
    var width: Int?
    var height: Int?
  }

  /// A file of an image.
  struct Candidate: Hashable, Sendable {
    enum Descriptor: Hashable, Sendable {
      /// The width in pixels.
      case width(Int)
      /// Pixels per CSS pixel.
      case density(Double)
    }

    var url: String
    var descriptor = Descriptor.density(1)
  }

  /// An icon of the page.
  struct Icon: Hashable, Sendable {
    var url: String
    /// The longest of the declared sides; nil for `any`, as for drawings.
    var side: Int?
  }

  /// The URL that others are relative to: the first `base`, or that of the page.
  private(set) var base: SourceURL?
  private(set) var title: String?
  /// The images for sharing, the best declaration first: Open Graph, Twitter cards, `image_src`, `itemprop`.
  var preview: String? { (openGraph + cards + links + items).first }
  /// The images in the text.
  private(set) var images: [Image] = []
  /// The icons.
  private(set) var icons: [Icon] = []
  /// The URL of the web app manifest.
  private(set) var manifest: String?

  private var (openGraph, cards, links, items) = ([String](), [String](), [String](), [String]())
  /// The candidates of the `source` elements so far, if a `picture` element is open; nil otherwise.
  private var sources: [[Candidate]]?

  /// The maximum number of images and icons of a page.
  static let maxImages = 2000
  /// The media types of sources that can be decoded.
  private static let types: Set = [
    "image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/bmp",
    "image/heic", "image/jxl", "image/jp2", "image/jpx", "image/tiff", "image/x-icon", "image/vnd.microsoft.icon",
    "image/vnd.adobe.photoshop", "image/x-dcraw",
  ]

  /// Reads a page in UTF-8, whose URL is `url`; nil for one that is a file.
  init(_ bytes: [UInt8], at url: SourceURL?) {
    base = url
    var tokenizer = MarkupTokenizer(bytes, .html)
    var (isTitle, hasBase) = (false, false)
    while let token = tokenizer.next() {
      switch token {
      case .text(let text):
        if isTitle, title == nil { title = text.trimmingWhitespace() }
      case .tag(let tag) where tag.name == "base" && !tag.isEnd && !hasBase:
        guard let href = tag["href"] else { break }
        hasBase = true
        base = Self.resolve(href, against: url) ?? base
      case .tag(let tag): take(tag)
      }
      if case .tag(let tag) = token { isTitle = tag.name == "title" && !tag.isEnd }
    }
  }

  /// Adds the icons of the web app manifest.
  mutating func add(_ more: [Icon]) { icons += more }

  private mutating func take(_ tag: MarkupTokenizer.Tag) {
    switch (tag.name, tag.isEnd) {
    case ("meta", false): take(meta: tag)
    case ("link", false): take(link: tag)
    case ("picture", let isEnd): sources = isEnd ? nil : []
    case ("source", false): take(source: tag)
    // Browsers read `image` as `img`, except in drawings, where it has no `src`.
    case ("img", false), ("image", false): take(image: tag)
    default: break
    }
  }

  private mutating func take(meta tag: MarkupTokenizer.Tag) {
    guard let content = tag["content"]?.trimmingWhitespace(), !content.isEmpty else { return }
    switch (tag["property"] ?? tag["name"] ?? tag["itemprop"])?.lowercased() {
    case "og:image", "og:image:url", "og:image:secure_url": openGraph.append(content)
    case "twitter:image", "twitter:image:src": cards.append(content)
    case "image", "thumbnailurl": items.append(content)
    default: break
    }
  }

  private mutating func take(link tag: MarkupTokenizer.Tag) {
    guard let href = tag["href"]?.trimmingWhitespace(), !href.isEmpty else { return }
    let kinds = (tag["rel"] ?? "").lowercased().split(whereSeparator: \.isWhitespace)
    if kinds.contains("image_src") { links.append(href) }
    if kinds.contains("manifest"), manifest == nil { manifest = href }
    let isTouch = kinds.contains("apple-touch-icon") || kinds.contains("apple-touch-icon-precomposed")
    guard isTouch || kinds.contains("icon"), icons.count < Self.maxImages, Self.isReadable(tag["type"]) else {
      return
    }
    let isDrawing = tag["type"]?.lowercased() == "image/svg+xml"
    icons += Self.sides(tag["sizes"], otherwise: isTouch ? 180 : 32, isDrawing: isDrawing).map {
      Icon(url: href, side: $0)
    }
  }

  /// Reads the `sizes` of an icon: `16x16 32x32`, or `any`.
  static func sides(_ text: String?, otherwise usual: Int, isDrawing: Bool = false) -> [Int?] {
    let words = (text ?? "").lowercased().split(whereSeparator: \.isWhitespace)
    if isDrawing || words.contains("any") { return [nil] }
    let sides = words.prefix(20).compactMap { word in
      let parts = word.split(separator: "x").compactMap { Int($0) }
      return parts.count == 2 ? parts.max() : nil
    }
    return sides.isEmpty ? [usual] : sides
  }

  private mutating func take(source tag: MarkupTokenizer.Tag) {
    guard sources != nil, let set = tag["srcset"] ?? tag["data-srcset"], Self.isReadable(tag["type"]) else { return }
    // A source with a condition about the window may be another crop.
    guard tag["media"]?.trimmingWhitespace().isEmpty ?? true else { return }
    sources?.append(Self.candidates(in: set))
  }

  /// An image whose `src` is a stand-in, such as a `data:` URL, has its file in an attribute for scripts.
  private mutating func take(image tag: MarkupTokenizer.Tag) {
    guard images.count < Self.maxImages else { return }
    let lazy = ["data-src", "data-original", "data-lazy-src"].lazy.compactMap { tag[$0] }.first { !$0.isEmpty }
    let own = tag["src"].flatMap { $0.isEmpty || $0.lowercased().hasPrefix("data:") && lazy != nil ? nil : $0 }
    var candidates = sources?.first { !$0.isEmpty } ?? Self.candidates(in: tag["srcset"] ?? tag["data-srcset"] ?? "")
    if candidates.isEmpty, let url = lazy ?? own { candidates = [Candidate(url: url.trimmingWhitespace())] }
    if let own, !candidates.contains(where: { $0.descriptor == .density(1) || $0.isWide }) {
      candidates.append(Candidate(url: own.trimmingWhitespace()))
    }
    candidates.removeAll { $0.url.isEmpty || $0.url.lowercased().hasPrefix("data:") }
    guard !candidates.isEmpty else { return }
    images.append(
      Image(
        candidates: candidates, text: tag["alt"]?.trimmingWhitespace(), width: Self.length(tag["width"]),
        height: Self.length(tag["height"])))
  }

  private static func length(_ text: String?) -> Int? {
    text.flatMap { Int($0.trimmingWhitespace().prefix { $0.isASCII && $0.isNumber }) }
  }

  private static func isReadable(_ type: String?) -> Bool {
    guard let type = type?.lowercased().split(separator: ";").first.map(String.init)?.trimmingWhitespace() else {
      return true
    }
    return type.isEmpty || types.contains(type)
  }

  /// Reads a `srcset` (HTML standard, section 4.8.4.2.1): URLs with a width such as `640w` or a density such as `2x`.
  static func candidates(in text: String) -> [Candidate] {
    var (rest, candidates) = (Array(text.utf8)[...], [Candidate]())
    while candidates.count < 100 {
      rest = rest.drop { $0.isMarkupSpace || $0 == UInt8(ascii: ",") }
      var url = rest.prefix { !$0.isMarkupSpace }
      guard !url.isEmpty else { break }
      rest = rest[url.endIndex...]
      if url.last == UInt8(ascii: ",") {
        // Commas end a URL without a descriptor.
        while url.last == UInt8(ascii: ",") { url = url.dropLast() }
        candidates.append(Candidate(url: String(decoding: url, as: UTF8.self)))
        continue
      }
      guard let descriptor = Self.descriptor(Self.words(&rest)) else { continue }
      candidates.append(Candidate(url: String(decoding: url, as: UTF8.self), descriptor: descriptor))
    }
    return candidates
  }

  /// Reads the descriptors up to a comma that is not in parentheses.
  private static func words(_ rest: inout ArraySlice<UInt8>) -> [Substring] {
    var (depth, text) = (0, [UInt8]())
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: ","), depth == 0 { break }
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
  }

  /// Returns the width or the density; nil if a word is invalid. A height has no meaning by itself.
  private static func descriptor(_ words: [Substring]) -> Candidate.Descriptor? {
    let sizes = words.filter { !$0.hasSuffix("h") || Int($0.dropLast()) == nil }
    let found = sizes.compactMap(descriptor)
    guard found.count == sizes.count else { return nil }
    return found.first ?? .density(1)
  }

  private static func descriptor(_ word: Substring) -> Candidate.Descriptor? {
    if word.hasSuffix("w") { return Int(word.dropLast()).flatMap { $0 > 0 ? .width($0) : nil } }
    return word.hasSuffix("x") ? Double(word.dropLast()).flatMap { $0 >= 0 ? .density($0) : nil } : nil
  }

  static func resolve(_ reference: String, against base: SourceURL?) -> SourceURL? {
    guard let base else { return try? SourceURL(reference) }
    return try? SourceURL(reference, relativeTo: base)
  }
}

extension WebPage.Candidate {
  fileprivate var isWide: Bool { if case .width = descriptor { true } else { false } }
}

// MARK: Choices

/// The images to take from a web page. The raw values are those of `--find`.
enum PageSearch: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The image that the page declares for sharing, or else the largest one.
  case preview
  /// The icon that suits the size of the thumbnail.
  case icon
  /// Every image, as a separate row.
  case images
}

extension WebPage {
  /// Returns the URLs to take, with the texts that name them, in the order of the page and each once.
  ///
  /// - Parameter side: The longest side of the thumbnails in pixels.
  func found(_ search: PageSearch, side: Int) -> [(url: String, text: String?)] {
    switch search {
    case .preview: return [preview ?? largest(side)].compactMap { $0.map { ($0, title) } }
    case .icon: return [icon(for: side)?.url].compactMap { $0.map { ($0, title) } }
    case .images:
      var seen = Set<String>()
      return images.compactMap { image in
        let url = image.url(for: side)
        return seen.insert(resolved(url)).inserted ? (url, image.text) : nil
      }
    }
  }

  /// Returns the whole form of a URL of the page, which stays as it is if it is not valid.
  func resolved(_ url: String) -> String { Self.resolve(url, against: base)?.description ?? url }

  /// The file of the image with the most declared pixels.
  private func largest(_ side: Int) -> String? {
    images.max { $0.area < $1.area }?.url(for: side)
  }

  /// Returns the smallest icon that is no smaller than the thumbnail, or else a drawing, or else the largest one.
  func icon(for side: Int) -> Icon? {
    icons.min { first, second in
      let (a, b) = (first.rank(for: side), second.rank(for: side))
      return (a.class, a.distance) < (b.class, b.distance)
    }
  }
}

extension WebPage.Icon {
  /// Returns the place among other icons: the lower, the better.
  fileprivate func rank(for wanted: Int) -> (class: Int, distance: Int) {
    guard let side else { return (1, 0) }
    return side >= wanted ? (0, side - wanted) : (2, wanted - side)
  }
}

extension WebPage.Image {
  /// The declared number of pixels; 0 if it is unknown.
  fileprivate var area: Int {
    let widths = candidates.compactMap { if case .width(let width) = $0.descriptor { width } else { nil } }
    let width = widths.max() ?? self.width ?? 0
    return width.clampedSide * (height ?? self.width ?? width).clampedSide
  }

  /// Returns the file whose width is the nearest above `side`, or else the widest one.
  func url(for side: Int) -> String {
    let widths = candidates.map { candidate -> (url: String, width: Double) in
      switch candidate.descriptor {
      case .width(let pixels): (candidate.url, Double(pixels))
      // Without a declared width, an image fits as it is, and denser files are larger.
      case .density(let density): (candidate.url, density * Double(width.map(\.clampedSide) ?? side))
      }
    }
    let above = widths.filter { $0.width >= Double(side) }.min { $0.width < $1.width }
    return (above ?? widths.max { $0.width < $1.width })?.url ?? ""
  }
}

extension Int {
  fileprivate var clampedSide: Int { Swift.min(Swift.max(self, 0), 100_000) }
}

// MARK: Encoding

/// The character encoding of a page (HTML standard, section 13.2.3): a byte-order mark, or else the one of the
/// response, of `meta`, or UTF-8.
enum PageEncoding {
  /// The number of bytes in which `meta` is looked for.
  private static let prescanned = 1024

  /// Returns the page in UTF-8. `contentType` is that of the response.
  static func utf8(_ bytes: [UInt8], contentType: String?) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    if bytes.starts(with: [0xFE, 0xFF]) { return converted(bytes, from: "UTF-16BE", dropping: 2) }
    if bytes.starts(with: [0xFF, 0xFE]) { return converted(bytes, from: "UTF-16LE", dropping: 2) }
    if let name = contentType.flatMap(charset) ?? declared(in: bytes) { return converted(bytes, from: name) }
    return String(validating: bytes, as: UTF8.self) != nil ? bytes : Array(TextDecoder.windows1252(bytes).utf8)
  }

  /// Returns the encoding that `meta` or the XML declaration names. A page in UTF-16 cannot say so by itself.
  private static func declared(in bytes: [UInt8]) -> String? {
    let start = Array(bytes.prefix(prescanned))
    var tokenizer = MarkupTokenizer(start, .html)
    while let token = tokenizer.next() {
      guard case .tag(let tag) = token, tag.name == "meta", !tag.isEnd else { continue }
      let isType = tag["http-equiv"]?.lowercased() == "content-type"
      guard let name = tag["charset"] ?? (isType ? tag["content"].flatMap(charset) : nil) else { continue }
      return name.lowercased().hasPrefix("utf-16") ? "UTF-8" : name
    }
    let text = String(decoding: start.prefix(200), as: UTF8.self)
    return text.firstMatch(of: #/^<\?xml[^>]*encoding=["']([A-Za-z0-9._\-]+)["']/#).map { String($0.1) }
  }

  private static func charset(_ type: String) -> String? {
    type.firstMatch(of: #/(?i)charset\s*=\s*["']?([A-Za-z0-9._:\-]+)/#).map { String($0.1) }
  }

  /// Returns the bytes in UTF-8; those that are not valid become U+FFFD. Unknown names stand for Windows-1252, and so
  /// do those of Latin-1 and ASCII (Encoding standard, section 4.2).
  private static func converted(_ bytes: [UInt8], from name: String, dropping count: Int = 0) -> [UInt8] {
    let name = name.lowercased()
    if ["utf-8", "utf8", "unicode-1-1-utf-8"].contains(name) {
      return Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
    let isLatin = ["iso-8859-1", "iso8859-1", "latin1", "l1", "us-ascii", "ascii"].contains(name)
    let bytes = Array(bytes.dropFirst(count))
    // Browsers do not read UTF-7, in which markup hides.
    let others: Set = ["windows-1252", "cp1252", "x-cp1252", "utf-7", "utf7", "unicode-1-1-utf-7"]
    let isKnown = !isLatin && !others.contains(name)
    return (isKnown ? iconv(bytes, from: name) : nil) ?? Array(TextDecoder.windows1252(bytes).utf8)
  }

  /// Converts `bytes`; nil if the system does not know the encoding.
  private static func iconv(_ bytes: [UInt8], from name: String) -> [UInt8]? {
    guard let converter = iconv_open("UTF-8", name), converter != iconv_t(bitPattern: -1) else { return nil }
    defer { iconv_close(converter) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output: [UInt8] = []
    input.withUnsafeMutableBufferPointer { buffer in
      var (start, left) = (buffer.baseAddress, buffer.count)
      var chunk = [CChar](repeating: 0, count: 16 << 10)
      while left > 0 {
        let (written, code) = chunk.withUnsafeMutableBufferPointer { room -> (Int, Int32) in
          var (place, free) = (room.baseAddress, room.count)
          let result = Glibc.iconv(converter, &start, &left, &place, &free)
          return (room.count - free, result == -1 ? errno : 0)
        }
        output += chunk[..<written].map { UInt8(bitPattern: $0) }
        guard code != 0, code != E2BIG else { continue }
        // An invalid character, or one that the end cuts.
        output += "\u{FFFD}".utf8
        start = start.map { $0 + 1 }
        left -= 1
      }
    }
    return output
  }
}
