import BatchFetch
import Foundation
import Synchronization

/// An input of a run: an argument, or a file of `--input-file`.
enum ManifestInput: Hashable, Sendable {
  /// The manifest at this path; `-` is standard input.
  case file(String)
  /// The URL of an image.
  case url(String)
  /// A local image, or a directory of images.
  case local(LocalArgument)
  /// The images in a folder of a bucket.
  case bucket(BucketFolder)
}

extension ManifestInput {
  /// Reads an argument: one that begins with a scheme and `://`, or with `data:`, is a URL, every other one a path. The
  /// URL of a bucket, or of a folder in it, stands for the images there. Looks at no file.
  init(argument: String) {
    let isURL = argument.prefixMatch(of: #/[A-Za-z][A-Za-z0-9+.\-]*:\/\/|(?i)data:[^,]*,/#) != nil
    if let url = try? BucketURL(argument), url.key.isEmpty || url.key.hasSuffix("/"),
      let folder = BucketFolder(argument)
    {
      self = .bucket(folder)
    } else {
      self = isURL ? .url(argument) : .file(argument)
    }
  }

  /// The path of the manifest; nil for a URL.
  var path: String? { if case .file(let path) = self { path } else { nil } }

  /// The URL of the image; nil for a manifest.
  var url: String? { if case .url(let url) = self { url } else { nil } }

  /// Returns this input, or the image or directory at its path.
  var located: ManifestInput {
    path.flatMap(LocalArgument.init).map(ManifestInput.local) ?? self
  }

  /// The row of an image; nil for a manifest and a directory.
  var item: ManifestItem? {
    switch self {
    case .file, .bucket: nil
    // A local file that is typed in needs no permission.
    case .url(let url): ManifestItem(content: .url(url), place: isFileURL ? .argument(folders: []) : nil)
    case .local(let argument): argument.isDirectory ? nil : argument.item
    }
  }

  /// The folder of a bucket; nil for anything else.
  var bucket: BucketFolder? { if case .bucket(let folder) = self { folder } else { nil } }

  /// True if the input may be many images in folders.
  var hasFolders: Bool { directory != nil || bucket != nil }

  private var isFileURL: Bool { url?.prefix(5).lowercased() == "file:" }

  /// The directory of images; nil for anything else.
  var directory: LocalArgument? {
    if case .local(let argument) = self, argument.isDirectory { argument } else { nil }
  }

  /// Returns a message about `argument`, which is not the name of a file, if it looks like a URL that is wrong; nil for
  /// any other argument.
  static func flaw(of argument: String) -> String? {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let (scheme, rest) = (parts[0].lowercased(), parts.count == 2 ? parts[1] : "")
    let isWeb = parts.count == 2 && ["http", "https"].contains(scheme)
    if isWeb, rest.wholeMatch(of: #/\/?|\/\/([\/?#].*)?/#) != nil {
      return "'\(argument.printable)' has no host; give a whole URL, such as https://example.com/photo.jpg."
    }
    if isWeb, !rest.hasPrefix("//") {
      let whole = "\(scheme)://\(rest.drop { $0 == "/" })".printable
      return "There is no file '\(argument.printable)'. If it is a URL, it needs two slashes: \(whole)"
    }
    if argument.wholeMatch(of: #/\d{1,3}/#) != nil {
      return
        "There is no file '\(argument)'. If it is a quality, use --quality \(argument); for a size, -s \(argument)."
    }
    guard looksLikeURLWithoutScheme(argument) else { return nil }
    return "There is no file '\(argument.printable)'. If it is a URL, put https:// in front of it."
  }

  /// Returns true for `www.example.com/…` and `example.com/photo.jpg`: a host, then the path of an image.
  private static func looksLikeURLWithoutScheme(_ argument: String) -> Bool {
    let pattern =
      #/(www\.[^/]+|[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)+(:\d+)?\/.*\.(jpe?g|png|webp|gif|bmp|ico|avif|svg))(\/.*)?/#
    return argument.wholeMatch(of: pattern.ignoresCase()) != nil
  }
}

/// The rows of a manifest in memory.
struct ItemRows: RowSource {
  /// The rows that are left.
  var items: ArraySlice<ManifestItem>
  var found = "it is empty"

  /// Returns the next row; nil after the last.
  mutating func next() -> ManifestItem? { items.popFirst() }
}

/// A policy for the relative URLs in a manifest.
enum RelativeURLs: Hashable, Sendable {
  /// Relative URLs fail with `bad_url`.
  case refused
  /// Relative URLs are the names of files in the manifest's directory.
  case files
  /// Relative URLs are resolved against this one.
  case base(SourceURL)
}

/// The place that relative URLs of a manifest are resolved against.
enum ManifestBase: Hashable, Sendable {
  case directory(BaseDirectory)
  case url(SourceURL)

  /// Creates the place for the manifest at `path`; nil if relative URLs are refused.
  init?(_ policy: RelativeURLs, manifest path: String) {
    switch policy {
    case .refused: return nil
    case .files: self = .directory(BaseDirectory(manifest: path))
    case .base(let url): self = .url(url)
    }
  }

  /// Returns a URL that is whole; one that cannot be resolved stays as it is, and fails later.
  func resolve(_ url: String) -> String {
    switch self {
    case .directory(let directory): directory.resolve(url)
    case .url(let base):
      (try? SourceURL(url)) == nil ? (try? SourceURL(url, relativeTo: base))?.description ?? url : url
    }
  }
}

/// The directory that relative URLs of a manifest are resolved against.
struct BaseDirectory: Hashable, Sendable {
  /// An absolute path without its trailing slash.
  private let path: String

  /// The directory of `manifest`; the working directory if `manifest` is `-`.
  init(manifest: String, workingDirectory: String = FileManager.default.currentDirectoryPath) {
    let file = manifest.hasPrefix("/") ? manifest : "\(workingDirectory)/\(manifest)"
    path = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
  }

  /// Returns `url` unchanged if it has a scheme or a host, and otherwise a `file` URL. A relative `url` is taken
  /// literally as the name of a file: `?`, `#` and `%` are part of the name.
  func resolve(_ url: String) -> String {
    if url.hasPrefix("//") || hasScheme(url) { return url }
    let file = url.hasPrefix("/") ? url : "\(path)/\(url)"
    return "file://" + file.percentEncodedPath
  }

  /// Returns true if `url` begins with a scheme (RFC 3986, section 3.1).
  private func hasScheme(_ url: String) -> Bool {
    guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), let first = url.unicodeScalars.first else {
      return false
    }
    let letters = url[..<colon].unicodeScalars
    return first.isASCII && first.properties.isAlphabetic && letters.allSatisfy(\.isSchemeCharacter)
  }
}

extension Unicode.Scalar {
  fileprivate var isSchemeCharacter: Bool {
    isASCII && (properties.isAlphabetic || properties.numericType != nil || "+-.".unicodeScalars.contains(self))
  }
}
