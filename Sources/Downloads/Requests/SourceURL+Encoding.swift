extension SourceURL {
  /// Schemes that need no `//` after the colon. Without this list, `data:…` would look like `host:port`.
  private static let opaqueSchemes: Set<String> = ["data", "javascript", "blob", "about", "mailto", "file", "ftp"]

  /// Returns the scheme of `text`.
  ///
  /// - Throws: `bad_url` if there is no scheme, `blocked_scheme` if it is not supported.
  static func scheme(of text: String) throws(FetchFailure) -> Scheme {
    let bytes = text.utf8
    if bytes.starts(with: "https://".utf8) { return .https }
    if bytes.starts(with: "http://".utf8) { return .http }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].isSchemeName else {
      throw FetchFailure(.badURL, "The URL is not absolute: \(text.quotedForMessage)")
    }
    let name = text[..<colon].lowercased()
    let hasAuthority = bytes[colon...].starts(with: "://".utf8)
    if hasAuthority, let scheme = Scheme(rawValue: name) { return scheme }
    if hasAuthority || opaqueSchemes.contains(name) {
      throw FetchFailure(.blockedScheme, "The URL scheme \"\(name)\" is not supported.")
    }
    throw FetchFailure(.badURL, "The URL is not absolute: \(text.quotedForMessage)")
  }

  /// The bytes that a URL may contain without encoding, by value (RFC 3986, sections 2.2 and 2.3).
  private static let isLegal: [Bool] = {
    let legal = Set("-._~:/?#[]@!$&'()*+,;=".utf8)
    return (0...UInt8.max).map { $0.isASCIIAlphanumeric || legal.contains($0) }
  }()
  /// True for the bytes that end the authority, by value.
  private static let endsAuthority = (0...UInt8.max).map { "/?#".utf8.contains($0) }

  /// Returns `text` with every illegal byte percent-encoded, and with dots in place of `%2e` in the dot segments of the
  /// path. Any other `%` before two hexadecimal digits stays. The authority is left unchanged, because libcurl converts
  /// international names to ASCII (UTS 46).
  static func encodingIllegalBytes(of text: String) -> String {
    let (bytes, isLegal) = (Array(text.utf8), isLegal)
    let end = endOfAuthority(in: bytes)
    guard !bytes[end...].allSatisfy({ isLegal[Int($0)] }) else { return text }
    var encoded = Array(bytes[..<end])
    encoded.reserveCapacity(bytes.count + 32)
    let rest = writingDots(in: bytes[end...])
    for (index, byte) in zip(rest.indices, rest) {
      if isLegal[Int(byte)] || isEscape(rest[index...].prefix(3)) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The segments with a percent-encoded dot that lead to the same or the parent directory, in lower case (WHATWG URL,
  /// "single-dot URL path segment"). Some versions of libcurl remove them, others only those of plain dots.
  private static let dotSegments = ["%2e": ".", "%2e.": "..", ".%2e": "..", "%2e%2e": ".."]

  /// Returns a path, perhaps with a query and a fragment, whose dot segments are written as dots.
  private static func writingDots(in bytes: ArraySlice<UInt8>) -> [UInt8] {
    let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
    let segments = bytes[..<end].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
      guard segment.count <= 6, let dots = dotSegments[String(decoding: segment, as: UTF8.self).lowercased()] else {
        return Array(segment)
      }
      return Array(dots.utf8)
    }
    return Array(segments.joined(separator: "/".utf8)) + Array(bytes[end...])
  }

  /// Returns true if `bytes` are a `%` and two hexadecimal digits.
  private static func isEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.first == UInt8(ascii: "%") && bytes.count == 3 && bytes.dropFirst().allSatisfy(\.isHexDigit)
  }

  /// Returns the end of the part between `//` and the path (RFC 3986, section 3.2); 0 for a reference without
  /// authority.
  private static func endOfAuthority(in bytes: [UInt8]) -> Int {
    let endsAuthority = endsAuthority
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[slash...].starts(with: "//".utf8) else { return 0 }
    let scheme = bytes[..<slash]
    guard scheme.isEmpty || (scheme.last == UInt8(ascii: ":") && scheme.dropLast().isSchemeName) else { return 0 }
    return bytes[(slash + 2)...].firstIndex { endsAuthority[Int($0)] } ?? bytes.endIndex
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension Collection<UInt8> {
  /// True if the text has the syntax of a scheme (RFC 3986, section 3.1).
  fileprivate var isSchemeName: Bool {
    guard let first, first.isASCIILetter else { return false }
    return allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
  }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
  var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
  package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }
  fileprivate var isHexDigit: Bool { hexDigitValue != nil }

  /// The value of a hexadecimal digit; nil for any other byte.
  var hexDigitValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }
}

extension String {
  /// The text in quotation marks, cut to 200 bytes. A text that may contain a password is left out.
  var quotedForMessage: String {
    // Bytes, because a character has no greatest length.
    utf8.contains(UInt8(ascii: "@"))
      ? "(not shown: it may contain a password)" : "\"\(String(decoding: utf8.prefix(200), as: UTF8.self))\""
  }
}
