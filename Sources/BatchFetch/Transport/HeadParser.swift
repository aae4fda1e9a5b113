internal import HTTPTypes

/// Parses the head of a response line by line. A new status line, as after an interim response (1xx), starts over.
struct HeadParser {
  /// True until the first line is added.
  private(set) var isEmpty = true
  /// True once the final head is complete, up to its empty line. The head of an interim response (1xx) is not final.
  private(set) var isComplete = false
  /// The head as received so far.
  private(set) var response = HTTPResponse(status: .init(code: 500))
  private var length = 0

  /// The maximum length of all heads of one exchange, in bytes. No honest server sends that much.
  private static let maxLength = 256 << 10

  /// Adds one line, with or without its line terminator.
  ///
  /// - Throws: `too_large_bytes` if the head is too long, `connection_lost` if it declares conflicting lengths.
  mutating func add(line: some Collection<UInt8>) throws(FetchFailure) {
    isEmpty = false
    length += line.count
    guard length <= Self.maxLength else {
      throw FetchFailure(.tooLargeBytes, "The response header is larger than \(Self.maxLength) bytes.")
    }
    if line.starts(with: "HTTP/".utf8) {
      response = HTTPResponse(status: Self.status(in: line))
      isComplete = false
    } else if isComplete {
      // libcurl delivers the trailers of a chunked body like header lines. They are ignored.
    } else if line.allSatisfy(\.isWhitespace) {
      isComplete = response.status.kind != .informational
      try checkLength()
    } else if let field = Self.field(in: line) {
      response.headerFields.append(field)
    }
  }

  /// Throws if several `Content-Length` values differ (RFC 9112, section 6.3): a body cut at the smaller one would look
  /// complete.
  private func checkLength() throws(FetchFailure) {
    let fields = response.headerFields
    guard fields[.transferEncoding] == nil, Set(fields[values: .contentLength]).count > 1 else { return }
    throw FetchFailure(.connectionLost, "The response has conflicting Content-Length fields.")
  }

  /// Returns the status of a line such as `HTTP/1.1 404 Not Found`. Only the number matters (RFC 9112, section 4).
  private static func status(in line: some Collection<UInt8>) -> HTTPResponse.Status {
    let digits = line.drop { !$0.isWhitespace }.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
    let code = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    return HTTPResponse.Status(code: (100...999).contains(code) ? code : 999)
  }

  /// Parses `Name: value`; nil if the line is not a header field.
  private static func field(in line: some Collection<UInt8>) -> HTTPField? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
    else { return nil }
    let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
    var (length, count, isASCII) = (0, 0, true)
    for byte in value {
      count += 1
      if !byte.isWhitespace { length = count }
      if byte >= 0x80 { isASCII = false }
    }
    let text = value.prefix(length)
    // A value keeps its bytes even if they are not UTF-8. Nearly all values are ASCII, for which a string is much
    // faster.
    return isASCII
      ? HTTPField(name: name, value: String(decoding: text, as: UTF8.self)) : HTTPField(name: name, value: text)
  }
}

extension UInt8 {
  /// True for a space, a tab, or part of a line terminator.
  fileprivate var isWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

extension StringProtocol {
  /// The text without white space at both ends.
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
