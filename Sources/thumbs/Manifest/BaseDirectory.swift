import Foundation

/// A policy for the relative URLs in a manifest.
enum RelativeURLs: Hashable, Sendable {
  /// Relative URLs fail with `bad_url`.
  case refused
  /// Relative URLs are the names of files in the manifest's directory.
  case files
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
