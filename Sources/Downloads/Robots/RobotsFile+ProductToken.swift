extension RobotsFile {
  /// The product token without a custom `User-Agent`.
  static let defaultProductToken = "thumbs"

  /// Returns the name by which a robots.txt knows the sender of the header field `User-Agent: userAgent`: its first
  /// token without the version, such as `MyBot` for `MyBot/1.2 (+https://bot.example)`; ``defaultProductToken`` if
  /// the field has no such token.
  static func productToken(ofUserAgent userAgent: String?) -> String {
    let token = productToken(in: Array((userAgent ?? "").utf8)[...].drop { $0 == UInt8(ascii: " ") })
    return token.isEmpty ? defaultProductToken : String(decoding: token, as: UTF8.self)
  }

  /// Returns the product token at the beginning of `text`, which may be empty. Besides the letters, `_` and `-` of RFC
  /// 9309, section 2.2.1, a token may have digits and dots, because the names of many crawlers do.
  static func productToken(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    text.prefix { $0.isASCIIAlphanumeric || "_-.".utf8.contains($0) }
  }

  /// Compares two product tokens without regard to the case of letters.
  static func isEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0.lowercased == $1.lowercased }
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
