import FoundationEssentials
import Glibc
import ImageCache

/// The location of the images that a gallery shows.
enum GalleryImages: Hashable, Sendable {
  /// In files. `directory` is the output directory relative to the page's directory: empty, or with a trailing `/`.
  case files(directory: String)
  /// Embedded in the page.
  case embedded
}

extension GalleryImages {
  /// Chooses files if `outputDirectory` is `pageDirectory` or below it, so that the two can be moved together.
  /// Otherwise the images are embedded, and the page can be moved alone. Both directories must exist.
  init(of outputDirectory: String, from pageDirectory: String) {
    guard let output = Self.realPath(outputDirectory), let page = Self.realPath(pageDirectory) else {
      self = .embedded
      return
    }
    let base = page == "/" ? page : page + "/"
    if output == page {
      self = .files(directory: "")
    } else if output.hasPrefix(base) {
      self = .files(directory: output.dropFirst(base.count) + "/")
    } else {
      self = .embedded
    }
  }

  /// Returns the URL that the page loads to show `thumbnail`, the file `name` in the output directory.
  func url(of thumbnail: Thumbnail, at name: String) -> String {
    switch self {
    case .files(let directory): (directory + name).percentEncodedPath
    case .embedded: "data:\(thumbnail.format.mediaType);base64,\(Data(thumbnail.bytes).base64EncodedString())"
    }
  }

  /// The longest side of a blurred image in pixels: enough for the waves of a ThumbHash.
  private static let blurredSide = 16

  /// Returns the URL of a blurred image to show until the file of `thumbnail` has loaded. Nil if there is nothing to
  /// wait for, and if it would stay visible behind the thumbnail, because parts of that are transparent.
  func blur(_ placeholder: Placeholder?, for thumbnail: Thumbnail) -> String? {
    guard case .files = self, let hash = placeholder?.thumbHash, !hash.hasAlpha, thumbnail.spec.fit != .pad else {
      return nil
    }
    let (size, longer) = (thumbnail.size, max(thumbnail.size.width, thumbnail.size.height, 1))
    let side = { max(1, $0 * Self.blurredSide / longer) }
    let file = try? hash.png(in: PixelSize(width: side(size.width), height: side(size.height)))
    return file.map { "data:image/png;base64,\(Data($0).base64EncodedString())" }
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
