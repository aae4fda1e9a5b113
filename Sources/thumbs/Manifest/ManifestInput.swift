/// An input of a run: an argument, or a file of `--input-file`.
enum ManifestInput: Hashable, Sendable {
  /// The manifest at this path; `-` is standard input.
  case file(String)
  /// The URL of an image.
  case url(String)
}

extension ManifestInput {
  /// Reads an argument: one that begins with a scheme and `://` is a URL, every other one a path.
  init(argument: String) {
    let isURL = argument.prefixMatch(of: #/[A-Za-z][A-Za-z0-9+.\-]*:\/\//#) != nil
    self = isURL ? .url(argument) : .file(argument)
  }

  /// The path of the manifest; nil for a URL.
  var path: String? { if case .file(let path) = self { path } else { nil } }

  /// The URL of the image; nil for a manifest.
  var url: String? { if case .url(let url) = self { url } else { nil } }

  /// Returns a message about `argument`, which is not the name of a file, if it looks like a URL that is wrong; nil for
  /// any other argument.
  static func flaw(of argument: String) -> String? {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let (scheme, rest) = (parts[0].lowercased(), parts.count == 2 ? parts[1] : "")
    let isWeb = parts.count == 2 && ["http", "https"].contains(scheme)
    if parts.count == 2, scheme == "data" {
      return "data: URLs are not supported; give a file or an http or https URL."
    }
    if isWeb, rest.wholeMatch(of: #/\/?|\/\/([\/?#].*)?/#) != nil {
      return "'\(argument.printable)' has no host; give a whole URL, such as https://example.com/photo.jpg."
    }
    if isWeb, !rest.hasPrefix("//") {
      let whole = "\(scheme)://\(rest.drop { $0 == "/" })".printable
      return "There is no file '\(argument.printable)'. If it is a URL, it needs two slashes: \(whole)"
    }
    guard looksLikeURLWithoutScheme(argument) else { return nil }
    return "There is no file '\(argument.printable)'. If it is a URL, put https:// in front of it."
  }

  /// Returns true for `www.example.com/…` and `example.com/photo.jpg`: a host, then the path of an image.
  static func looksLikeURLWithoutScheme(_ argument: String) -> Bool {
    let pattern =
      #/(www\.[^/]+|[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)+(:\d+)?\/.*\.(jpe?g|png|webp|gif|bmp|ico|avif|svg))(\/.*)?/#
    return argument.wholeMatch(of: pattern.ignoresCase()) != nil
  }
}

/// The rows of a manifest in memory.
struct URLRows: RowSource {
  /// The URLs of the rows that are left.
  var urls: ArraySlice<String>

  /// Returns the next row; nil after the last.
  mutating func next() -> ManifestItem? { urls.popFirst().map { ManifestItem(content: .url($0)) } }
}
