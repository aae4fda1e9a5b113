import FoundationEssentials
import Glibc
import ImageCache

/// How a gallery finds its pictures.
enum GalleryPictures: Hashable, Sendable {
  /// As files: the output directory, relative to the page's; empty, or with a `/` at its end.
  case files(directory: String)
  /// Inside the page.
  case embedded
}

extension GalleryPictures {
  /// Files where `outputDirectory` is `pageDirectory` or below it, so that the two can be moved together. Otherwise the
  /// pictures are in the page itself, and it can be moved alone. Both directories exist.
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

  /// What the page loads to show `thumbnail`, which is in the file `name` of the output directory.
  func address(of thumbnail: Thumbnail, at name: String) -> String {
    switch self {
    case .files(let directory): (directory + name).percentEncodedPath
    case .embedded: "data:image/\(thumbnail.format.rawValue);base64,\(Data(thumbnail.bytes).base64EncodedString())"
    }
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
