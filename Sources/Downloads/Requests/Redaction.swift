internal import Foundation

/// Removes credentials from text that is shown or stored.
package enum Redaction {
  /// The replacement for a user and a password.
  package static let mark = "***"

  /// Replaces user and password in `url` with `***`: `https://***@host/a.png`.
  ///
  /// An invalid URL may have a password anywhere before its last `@`, so everything up to there is hidden. The usual
  /// cause is a password that contains a slash.
  package static func url(_ url: String) -> String {
    if url.prefix(5).lowercased() == "data:" { return (try? SourceURL(url))?.description ?? "data:" }
    guard url.utf8.contains(at) else { return url }
    return hidesPath(of: url) ? hidingAll(url) : hidingUsers(url)
  }

  /// Returns true if `url` is invalid, so that ``url(_:)`` hides everything before its last `@`, the path included.
  package static func hidesPath(of url: String) -> Bool { url.utf8.contains(at) && (try? SourceURL(url)) == nil }

  /// Redacts every URL in `message`. `urls` are those that it may contain, which also covers invalid ones.
  package static func message(_ message: String, about urls: [String] = []) -> String {
    guard message.utf8.contains(at) else { return message }
    var result = ""
    var rest = urls.reduce(message[...]) { $0.replacing($1, with: url($1)) }
    while let separator = rest.firstRange(of: "://") {
      let start = rest[..<separator.lowerBound].lastIndex { !$0.isLetter }.map { rest.index(after: $0) }
      let found = rest[(start ?? rest.startIndex)...].prefix { !" \t\n\"'<>".contains($0) }
      result += rest[..<found.startIndex] + url(String(found))
      rest = rest[max(found.endIndex, separator.upperBound)...]
    }
    return result + rest
  }

  /// Redacts a name or another text of a row, which may itself be a URL: one of `urls`, or any other.
  package static func label(_ text: String, about urls: [String] = []) -> String {
    guard text.utf8.contains(at) else { return text }
    let known = urls.reduce(text) { $0.replacing($1, with: url($1)) }
    return known.contains("://") ? url(known) : known
  }

  private static let at = UInt8(ascii: "@")

  /// Hides everything between the scheme and the last `@`.
  private static func hidingAll(_ url: String) -> String {
    guard let last = url.utf8.lastIndex(of: at) else { return url }
    let scheme = url.prefix { $0.isASCII && $0.isLetter }
    let isScheme = !scheme.isEmpty && url[scheme.endIndex...].hasPrefix("://")
    return (isScheme ? scheme + "://" : "") + mark + url[last...]
  }

  /// Hides the user information in the authority after each `://`. The authority ends where libcurl ends it (RFC 3986,
  /// section 3.2): a backslash is part of it.
  private static func hidingUsers(_ url: String) -> String {
    var result = ""
    var rest = url[...]
    while let scheme = rest.firstRange(of: "://") {
      let authority = rest[scheme.upperBound...].prefix { !"/?#".contains($0) }
      result += rest[..<scheme.upperBound] + (authority.lastIndex(of: "@").map { mark + authority[$0...] } ?? authority)
      rest = rest[authority.endIndex...]
    }
    return result + rest
  }
}
