internal import HTTPTypes

/// Collects the lines of an answer's head. A new status line starts over: after a redirect, or after a 1xx.
struct HeadParser {
  /// Whether nothing came yet.
  private(set) var isEmpty = true
  /// Whether the final head is whole, up to its empty line. One of a 1xx is not final.
  private(set) var isComplete = false
  /// The head as far as it came.
  private(set) var response = HTTPResponse(status: .init(code: 500))
  private var length = 0

  /// More than any honest server sends, also where it sends one head after the other.
  private static let maxLength = 256 << 10

  /// Adds one line, with or without its line end.
  ///
  /// - Throws: `too_large_bytes` for a head that does not end, `connection_lost` for one that contradicts itself.
  mutating func add(line: some Collection<UInt8>) throws(FetchFailure) {
    isEmpty = false
    length += line.count
    guard length <= Self.maxLength else {
      throw FetchFailure(.tooLargeBytes, "The head of the answer is larger than \(Self.maxLength) bytes.")
    }
    if line.starts(with: "HTTP/".utf8) {
      response = HTTPResponse(status: Self.status(in: line))
      isComplete = false
    } else if isComplete {
      // The trailers of a chunked body come like lines of a head, and are none.
    } else if line.allSatisfy(\.isWhitespace) {
      isComplete = response.status.kind != .informational
      try checkLength()
    } else if let field = Self.field(in: line) {
      response.headerFields.append(field)
    }
  }

  /// Of several lengths that differ, none can be believed (RFC 9112, 6.3): a body cut by the smaller one looks whole.
  private func checkLength() throws(FetchFailure) {
    let fields = response.headerFields
    guard fields[.transferEncoding] == nil, Set(fields[values: .contentLength]).count > 1 else { return }
    throw FetchFailure(.connectionLost, "The answer declares several lengths that differ.")
  }

  /// `HTTP/1.1 404 Not Found`: the number is what counts (RFC 9112, 4).
  private static func status(in line: some Collection<UInt8>) -> HTTPResponse.Status {
    let digits = line.drop { !$0.isWhitespace }.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
    let code = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    return HTTPResponse.Status(code: (100...999).contains(code) ? code : 999)
  }

  /// `Name: value`; nil for what is not a field.
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
    // What is no UTF-8 keeps its bytes; nearly all values are ASCII, and a string is made of them much faster.
    return isASCII
      ? HTTPField(name: name, value: String(decoding: text, as: UTF8.self)) : HTTPField(name: name, value: text)
  }
}

extension UInt8 {
  /// A blank, or part of a line end.
  fileprivate var isWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

extension StringProtocol {
  /// Without white space at both ends.
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
