import BatchFetch
import ImageCache

/// What a gallery shows of one row.
struct GalleryCard: Hashable, Sendable {
  /// A thumbnail, shown at half its pixels or fewer.
  struct Picture: Hashable, Sendable {
    /// What the page loads: an address relative to it, or a `data:` address with the picture itself.
    var address: String
    /// The thumbnail's size in pixels.
    var size: PixelSize
  }

  /// What there is to look at.
  enum Content: Hashable, Sendable {
    /// A picture, and what is known of its source: `1280 × 960 JPEG, network`.
    case picture(Picture, facts: String)
    /// A placeholder, the code of the report, and the reason.
    case placeholder(code: String, reason: String)
  }

  /// The row's place among all rows, from 0.
  var index: Int
  /// The `status` of the report.
  var status: ReportLine.Status
  /// The row's name; the last part of its address where it has none.
  var title: String
  /// The second line: what the manifest says, else the host.
  var subtitle: String
  /// The source's address without credentials; nil for a bad row.
  var url: String?
  /// What there is to look at.
  var content: Content
}

extension GalleryCard {
  /// The fewest pixels of a thumbnail's longer side that look sharp at the size of a gallery.
  private static let sharpSide = 144

  /// The card of the row of `line`; `pictures` tells how the page finds them.
  init(_ line: ReportLine, subtitle: String?, pictures: GalleryPictures) {
    let address = line.url.map { SourceAddress($0) }
    index = line.index
    status = line.status
    title = line.name ?? address?.stem ?? "Row \(UInt(clamping: line.index) + 1)"
    self.subtitle = subtitle ?? address?.host ?? ""
    url = line.url
    switch line.outcome {
    case .failed(let failure): content = .placeholder(code: "\(failure.code)", reason: failure.message)
    case .done(let set, let outputs): content = Self.content(set, outputs, pictures)
    }
  }

  /// Of several sizes, the smallest that is sharp.
  private static func content(
    _ set: ThumbnailSet, _ outputs: [ReportLine.Output], _ pictures: GalleryPictures
  ) -> Content {
    let bySize = zip(set.thumbnails, outputs).sorted { $0.0.size.longerSide < $1.0.size.longerSide }
    let shown = bySize.first { $0.0.size.longerSide >= sharpSide } ?? bySize.last
    guard let (thumbnail, output) = shown else { return .placeholder(code: "", reason: "There is no file.") }
    let picture = Picture(address: pictures.address(of: thumbnail, at: output.path), size: thumbnail.size)
    let size = set.source.size
    let facts = "\(size.width) × \(size.height) \(set.source.format.rawValue.uppercased()), \(set.origin.rawValue)"
    return .picture(picture, facts: ([facts] + set.warnings).joined(separator: "; "))
  }
}

extension PixelSize {
  fileprivate var longerSide: Int { max(width, height) }
}
