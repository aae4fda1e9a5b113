internal import HTTPTypes

/// Collects the lines of an answer's head. A new status line starts over: after a redirect, or after a 1xx.
struct HeadParser {
  /// Whether nothing came yet.
  private(set) var isEmpty = true
  /// The head as far as it came.
  private(set) var response = HTTPResponse(status: .init(code: 500))

  /// Adds one line, with or without its line end.
  mutating func add(line: some Collection<UInt8>) {
    isEmpty = false
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      response = HTTPResponse(status: Self.status(in: text))
    } else if let field = Self.field(in: text) {
      response.headerFields.append(field)
    }
  }

  /// `HTTP/1.1 404 Not Found`: the number is what counts (RFC 9112, 4).
  private static func status(in line: String) -> HTTPResponse.Status {
    let code = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    return HTTPResponse.Status(code: (100...999).contains(code) ? code : 999)
  }

  /// `Name: value`; nil for the empty line and for what is not a field.
  private static func field(in line: String) -> HTTPField? {
    guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else { return nil }
    return HTTPField(name: name, value: line[line.index(after: colon)...].trimmed)
  }
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
