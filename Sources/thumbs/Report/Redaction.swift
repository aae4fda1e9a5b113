import BatchFetch

/// Taking credentials out of text that is shown or kept.
enum Redaction {
  /// What stands for a user and a password.
  static let mark = "***"

  /// `url` with `***` for user and password: `https://***@host/a.png`.
  ///
  /// What cannot be fetched may have a password anywhere before its last `@`, so that all of that is hidden: a password
  /// with a slash in it is the usual reason why an address is none.
  static func url(_ url: String) -> String {
    guard url.utf8.contains(at) else { return url }
    return hidesPath(of: url) ? hidingAll(url) : hidingUsers(url)
  }

  /// Whether ``url(_:)`` hides more of `url` than what stands before the host.
  static func hidesPath(of url: String) -> Bool { url.utf8.contains(at) && (try? SourceURL(url)) == nil }

  /// `message` with every address in it as ``url(_:)`` shows it; `addresses` are those that may be among them.
  static func message(_ message: String, about addresses: [String] = []) -> String {
    guard message.utf8.contains(at) else { return message }
    var result = ""
    var rest = addresses.reduce(message[...]) { $0.replacing($1, with: url($1)) }
    while let separator = rest.firstRange(of: "://") {
      let start = rest[..<separator.lowerBound].lastIndex { !$0.isLetter }.map { rest.index(after: $0) }
      let address = rest[(start ?? rest.startIndex)...].prefix { !" \t\n\"'<>".contains($0) }
      result += rest[..<address.startIndex] + url(String(address))
      rest = rest[max(address.endIndex, separator.upperBound)...]
    }
    return result + rest
  }

  /// A name or another text of a row, without credentials. It may be an address itself: one of `addresses`, or another.
  static func label(_ text: String, about addresses: [String] = []) -> String {
    guard text.utf8.contains(at) else { return text }
    let known = addresses.reduce(text) { $0.replacing($1, with: url($1)) }
    return known.contains("://") ? url(known) : known
  }

  private static let at = UInt8(ascii: "@")

  /// Everything between the scheme and the last `@` is hidden.
  private static func hidingAll(_ url: String) -> String {
    guard let last = url.utf8.lastIndex(of: at) else { return url }
    let scheme = url.prefix { $0.isASCII && $0.isLetter }
    let isScheme = !scheme.isEmpty && url[scheme.endIndex...].hasPrefix("://")
    return (isScheme ? scheme + "://" : "") + mark + url[last...]
  }

  /// An authority stands behind every `://`, and ends where libcurl ends it (RFC 3986, section 3.2): a backslash is a
  /// part of it.
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
