/// Taking credentials out of text that is shown or kept.
enum Redaction {
  /// What stands for a user and a password.
  static let mark = "***"

  /// `url` with `***` for user and password: `https://***@host/a.png`. Without a scheme, too.
  static func url(_ url: String) -> String {
    guard url.utf8.contains(at) else { return url }
    let ends = "/\\?#"
    if url.contains("://") { return redacted(url, authorityEnds: ends) }
    var rest = url[...]
    return takeAuthority(from: &rest, ends: ends) + rest
  }

  /// `message` with every address in it as ``url(_:)`` shows it; `address` is one that may be among them.
  static func message(_ message: String, about address: String) -> String {
    guard message.utf8.contains(at) else { return message }
    let known = message.replacing(address, with: url(address))
    return redacted(known, authorityEnds: "/\\?# \t\n\"'<>")
  }

  private static let at = UInt8(ascii: "@")

  /// An authority stands behind every `://`.
  private static func redacted(_ text: String, authorityEnds ends: String) -> String {
    var result = ""
    var rest = text[...]
    while let scheme = rest.firstRange(of: "://") {
      result += rest[..<scheme.upperBound]
      rest = rest[scheme.upperBound...]
      result += takeAuthority(from: &rest, ends: ends)
    }
    return result + rest
  }

  /// The authority at the start of `text`, up to one of `ends`. Its credentials are all before the last `@`.
  private static func takeAuthority(from text: inout Substring, ends: String) -> String {
    let authority = text.prefix { !ends.contains($0) }
    text = text[authority.endIndex...]
    return authority.lastIndex(of: "@").map { mark + authority[$0...] } ?? String(authority)
  }
}
