import Foundation

/// What becomes of the relative addresses of a manifest.
enum RelativeAddresses: Hashable, Sendable {
  /// They fail with `bad_url`.
  case refused
  /// They are files beside the manifest.
  case files
}

/// The directory that the relative addresses of a manifest begin in.
struct AddressBase: Hashable, Sendable {
  /// Absolute, without the last slash.
  private let directory: String

  /// The directory of `manifest`; the working directory for `-`.
  init(manifest: String, workingDirectory: String = FileManager.default.currentDirectoryPath) {
    let path = manifest.hasPrefix("/") ? manifest : "\(workingDirectory)/\(manifest)"
    directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  /// `address` as it is where it has a scheme or a host, else as an address of the scheme `file`. A relative one is
  /// the name of a file, taken literally: `?`, `#` and `%` are parts of it.
  func resolve(_ address: String) -> String {
    if address.hasPrefix("//") || hasScheme(address) { return address }
    let path = address.hasPrefix("/") ? address : "\(directory)/\(address)"
    return "file://" + path.percentEncodedPath
  }

  /// RFC 3986, section 3.1.
  private func hasScheme(_ address: String) -> Bool {
    guard let colon = address.utf8.firstIndex(of: UInt8(ascii: ":")), let first = address.unicodeScalars.first else {
      return false
    }
    let letters = address[..<colon].unicodeScalars
    return first.isASCII && first.properties.isAlphabetic && letters.allSatisfy(\.isSchemeCharacter)
  }
}

extension Unicode.Scalar {
  fileprivate var isSchemeCharacter: Bool {
    isASCII && (properties.isAlphabetic || properties.numericType != nil || "+-.".unicodeScalars.contains(self))
  }
}
