/// The size of a gallery that embeds its thumbnails. A plain value: it is informed of each card.
struct EmbeddedSize: Hashable, Sendable {
  /// The size in bytes from which a page is large: browsers read it whole, and take seconds to open it.
  static let large = 64 << 20

  private let limit: Int
  private var bytes = 0

  /// Creates the size of an empty page, which is large from `limit` bytes on. Default ``large``.
  init(limit: Int = large) { self.limit = limit }

  /// Adds a card of `count` bytes. Returns the size of the page if this card makes it large, and nil otherwise.
  mutating func add(_ count: Int) -> ByteSize? {
    defer { bytes += count }
    return bytes < limit && bytes + count >= limit ? ByteSize(count: bytes + count) : nil
  }
}

extension ByteSize {
  /// The warning about a gallery of this size at `path`, which embeds the thumbnails in `outputDirectory`.
  func warning(of path: String, outputDirectory: String) -> String {
    let name = path.split(separator: "/").last ?? "index.html"
    return "The gallery already has \(self), because it embeds its thumbnails; browsers open it slowly. "
      + "To link them instead, put it into their directory: --gallery \(outputDirectory)/\(name)"
  }
}
