internal import HTTPTypes

/// Reads a response whose head has a line without a colon, which browsers skip and libcurl's parser gives up.
///
/// libcurl fetches the same URL by Gopher (RFC 1436), which sends one line of text and passes on all bytes that come
/// back. The text is an HTTP/1.0 request, so that no server sends chunks (RFC 9112, section 7.1).
struct PlainResponse {
  /// The start of a line whose rest has not arrived.
  private var line: [UInt8] = []
  /// The number of bytes of the body that are missing; nil until the head is complete, or if the end of the connection
  /// ends the body.
  private var missing: Int?

  /// True once the body is complete by its `Content-Length`.
  var isComplete: Bool { missing == 0 }
  /// True if the connection may end here.
  var mayEnd: Bool { missing ?? 0 == 0 }

  /// Removes the next line from `bytes`; nil if its end has not arrived. A line that never ends fails.
  mutating func nextLine(of bytes: inout UnsafeRawBufferPointer) throws(FetchFailure) -> [UInt8]? {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
    line += bytes[..<(end ?? bytes.count)]
    bytes = UnsafeRawBufferPointer(rebasing: bytes[(end ?? bytes.count)...])
    guard line.count <= HeadParser.maxLength else {
      throw FetchFailure(.tooLargeBytes, "The response header is larger than \(HeadParser.maxLength) bytes.")
    }
    guard end != nil else { return nil }
    defer { line = [] }
    return line
  }

  /// Reads the length of the body from the complete `head`.
  mutating func begin(_ head: HTTPResponse) throws(FetchFailure) {
    guard head.headerFields[.transferEncoding] == nil else {
      throw FetchFailure(.connectionLost, "The response has a transfer coding, which HTTP/1.0 does not know.")
    }
    guard !head.hasKnownCoding else {
      throw FetchFailure(.badEncoding, "The response has a content coding, which the request does not accept.")
    }
    guard let text = head.headerFields[fields: .contentLength].first?.value else { return }
    guard let length = Int(text), length >= 0 else {
      throw FetchFailure(.connectionLost, "The response has an invalid Content-Length field.")
    }
    missing = length
  }

  /// Returns the part of `bytes` that belongs to the body.
  mutating func body(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let missing else { return bytes }
    let count = min(missing, bytes.count)
    self.missing = missing - count
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }

  /// Returns the URL with which libcurl sends `request` by Gopher.
  static func url(for request: TransferRequest) -> String {
    let source = request.source
    var lines = ["GET \(source.pathAndQuery) HTTP/1.0", "Host: \(source.host)", "Accept-Encoding: identity"]
    lines += request.headerFields.map { "\($0.name): \($0.value)" } + ["Connection: close", ""]
    let text = lines.joined(separator: "\r\n").utf8.map(escaped).joined()
    // libcurl skips the first character of the path, which stands for the kind of a Gopher item, and ends the text with
    // a line terminator.
    let scheme = source.scheme == .https ? "gophers" : "gopher"
    return
      "\(scheme)://\(source.hostName.contains(":") ? "[\(source.hostName)]" : source.hostName):\(source.port)/_\(text)"
  }

  private static func escaped(_ byte: UInt8) -> String {
    byte.isASCIILetter || byte.isASCIIDigit
      ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
