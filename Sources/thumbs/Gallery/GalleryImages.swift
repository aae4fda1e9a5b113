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

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
