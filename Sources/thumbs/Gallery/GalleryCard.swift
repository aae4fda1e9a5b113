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
