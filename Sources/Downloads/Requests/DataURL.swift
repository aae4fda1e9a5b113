/// The bytes in a `data:` URL (RFC 2397, as read by the Fetch standard, section 6).
struct DataURL: Hashable, Sendable {
  /// The longest URL, in bytes. The limit of a body is that of the transfer.
  static let maxLength = 64 << 20

  /// The media type, such as `image/png`, without parameters.
  let mediaType: String
  let bytes: [UInt8]

  /// The URL in reports, messages and cache keys: the digest of the bytes stands for them.
  var description: String { "data:\(mediaType),sha256-\(BodyDigest(of: bytes))" }

  /// Reads `text`; nil if it is no `data:` URL.
  ///
  /// - Throws: `bad_url` for a URL that is too long, has no comma, or is not valid Base64.
  init?(_ text: String) throws(FetchFailure) {
    let bytes = text.utf8.drop { $0 <= 0x20 }
    guard bytes.prefix(5).elementsEqual("data:".utf8, by: { $0 | 0x20 == $1 | 0x20 }) else { return nil }
    guard text.utf8.count <= Self.maxLength, let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
      throw FetchFailure(.badURL, "The data: URL has no comma, or is longer than \(Self.maxLength) bytes.")
    }
    let head = String(Substring(bytes[bytes.index(bytes.startIndex, offsetBy: 5)..<comma])).lowercased()
    let parts = head.split(separator: ";", omittingEmptySubsequences: false)
    mediaType = Self.type(parts.first ?? "")
    let body = Array(bytes[bytes.index(after: comma)...].prefix { $0 != UInt8(ascii: "#") })[...].percentDecoded
    guard parts.count > 1, parts.last?.filter({ $0 != " " }) == "base64" else {
      self.bytes = Array(body)
      return
    }
    guard let decoded = Self.decoded(body) else { throw FetchFailure(.badURL, "The data: URL is not valid Base64.") }
    self.bytes = decoded
  }

  private static func type(_ text: Substring) -> String {
    let isType = text.utf8.count <= 60 && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "/+-.".utf8.contains($0) }
    return isType && !text.isEmpty ? String(text) : "text/plain"
  }

  /// Decodes Base64, with or without padding and white space ("forgiving-base64 decode", Infra standard, section 8).
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var (output, bits, count, padding) = ([UInt8](), UInt32(0), 0, 0)
    output.reserveCapacity(text.count / 4 * 3 + 3)
    for byte in text where byte > 0x20 {
      if byte == UInt8(ascii: "=") { padding += 1 }
      guard byte != UInt8(ascii: "=") else { continue }
      guard padding == 0, let value = value(byte) else { return nil }
      (bits, count) = (bits << 6 | value, count + 1)
      if count % 4 == 0 { output += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)] }
    }
    switch count % 4 {
    case 0 where padding == 0: return output
    case 2 where padding == 0 || padding == 2: return output + [UInt8(bits >> 4 & 0xFF)]
    case 3 where padding <= 1: return output + [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
    default: return nil
    }
  }

  private static func value(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
