internal import Glibc
internal import HTTPTypes

/// Parses the head of a response line by line. A new status line, as after an interim response (1xx), starts over.
struct HeadParser {
  /// True until the first line is added.
  private(set) var isEmpty = true
  /// True once the final head is complete, up to its empty line. The head of an interim response (1xx) is not final.
  private(set) var isComplete = false
  /// The status code as received so far; 500 before the first status line.
  private(set) var statusCode = 500
  private var fields = HTTPFields()
  private var length = 0

  /// The maximum length of all heads of one exchange, in bytes. No honest server sends that much.
  static let maxLength = 256 << 10
  /// The maximum number of fields in a head. Each costs more than its bytes: a name is checked, copied and hashed.
  private static let maxFields = 1000

  /// The head as received so far, put together at each access.
  var response: HTTPResponse {
    HTTPResponse(status: .init(code: statusCode), headerFields: fields)
  }

  /// Adds one line, with or without its line terminator.
  ///
  /// - Throws: `too_large_bytes` if the head is too long or has too many fields, `connection_lost` if it declares
  ///   conflicting lengths.
  mutating func add(line: UnsafeRawBufferPointer) throws(FetchFailure) {
    isEmpty = false
    length += line.count
    guard length <= Self.maxLength else {
      throw FetchFailure(.tooLargeBytes, "The response header is larger than \(Self.maxLength) bytes.")
    }
    if line.starts(with: "HTTP/".utf8) {
      statusCode = Self.statusCode(in: line)
      fields = HTTPFields()
      isComplete = false
    } else if isComplete {
      // libcurl delivers the trailers of a chunked body like header lines. They are ignored.
    } else if line.allSatisfy({ $0.isWhitespace }) {
      isComplete = !(100...199).contains(statusCode)
      try checkLength()
    } else if let field = Self.field(in: line) {
      if fields.isEmpty { fields.reserveCapacity(16) }
      guard fields.count < Self.maxFields else {
        throw FetchFailure(.tooLargeBytes, "The response header has more than \(Self.maxFields) fields.")
      }
      fields.append(field)
    }
  }

  /// Throws if several `Content-Length` values differ (RFC 9112, section 6.3): a body cut at the smaller one would look
  /// complete.
  private func checkLength() throws(FetchFailure) {
    let lengths = fields.lazy.filter { $0.name == .contentLength }
    guard let first = lengths.first, lengths.contains(where: { $0.value != first.value }),
      !fields.contains(where: { $0.name == .transferEncoding })
    else { return }
    throw FetchFailure(.connectionLost, "The response has conflicting Content-Length fields.")
  }

  /// Returns the status code of a line such as `HTTP/1.1 404 Not Found`. Only the number matters (RFC 9112, section 4).
  private static func statusCode(in line: UnsafeRawBufferPointer) -> Int {
    let digits = line.drop { !$0.isWhitespace }.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
    let code = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    return (100...999).contains(code) ? code : 999
  }

  /// Parses `Name: value`; nil if the line is not a header field.
  private static func field(in line: UnsafeRawBufferPointer) -> HTTPField? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = FieldNames.name(UnsafeRawBufferPointer(rebasing: line[..<colon]))
    else { return nil }
    var (start, end) = (colon + 1, line.count)
    while start < end, line[start].isWhitespace { start += 1 }
    while start < end, line[end - 1].isWhitespace { end -= 1 }
    let text = UnsafeRawBufferPointer(rebasing: line[start..<end])
    // A value keeps its bytes even if they are not UTF-8. Nearly all values are ASCII, for which a string is much
    // faster.
    return text.allSatisfy { $0 < 0x80 }
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

/// The names of common response fields, made once. Making a name checks and copies it, and puts it into lower case.
private enum FieldNames {
  private typealias Entry = (bytes: [UInt8], name: HTTPField.Name)

  /// Returns the field name that is spelled `bytes`; nil if they are not a valid name.
  static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
    if bytes.count < common.count {
      for entry in common[bytes.count] where isEqual(entry.bytes, bytes) { return entry.name }
    }
    return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
  }

  /// Compares texts of the same length.
  private static func isEqual(_ text: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return memcmp(text, start, bytes.count) == 0
  }

  /// The names by length. Servers write them in this case over HTTP/1.1, and in lower case over HTTP/2.
  private static let common: [[Entry]] = {
    let names = [
      "Date", "Server", "Content-Type", "Content-Length", "Last-Modified", "Connection", "ETag", "Etag",
      "Accept-Ranges", "Cache-Control", "Expires", "Vary", "Age", "Via", "Location", "Keep-Alive", "Transfer-Encoding",
      "Content-Encoding", "Content-Range", "Content-Disposition", "Content-Security-Policy", "Set-Cookie", "Link",
      "Alt-Svc", "Retry-After", "X-Cache", "X-Cache-Hits", "X-Served-By", "X-Timer", "CF-RAY", "CF-Cache-Status",
      "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Timing-Allow-Origin", "X-Content-Type-Options",
      "X-Frame-Options", "X-Robots-Tag", "Referrer-Policy", "Strict-Transport-Security", "Report-To", "NEL",
      "Server-Timing", "Cross-Origin-Resource-Policy",
    ]
    var entries = [[Entry]](repeating: [], count: 40)
    for text in Set(names + names.map { $0.lowercased() }) {
      guard let name = HTTPField.Name(text), text.utf8.count < entries.count else { continue }
      entries[text.utf8.count].append((Array(text.utf8), name))
    }
    return entries
  }()
}
