import HTTPTypes
import Testing

@testable import BatchFetch

@Suite struct HeadParserTests {
  private func head(_ lines: String...) throws -> HTTPResponse {
    var parser = HeadParser()
    for line in lines { try parser.add(line: Array("\(line)\r\n".utf8)) }
    return parser.response
  }

  @Test func `Status and fields are read, names in any case`() throws {
    let head = try head("HTTP/1.1 200 OK", "etag: \"1\"", "Content-LENGTH:  12 ", "")
    #expect(head.status == .ok && head.headerFields[.eTag] == "\"1\"" && head.headerFields[.contentLength] == "12")
  }

  @Test func `The head after a redirect replaces the one before`() throws {
    let head = try head("HTTP/1.1 302 Found", "Location: /b", "ETag: \"old\"", "", "HTTP/1.1 200 OK", "")
    #expect(head.status == .ok && head.headerFields.isEmpty)
  }

  @Test(arguments: ["HTTP/2 404", "HTTP/1.0 404 Not  Found", "HTTP/1.1 404"])
  func `Only the number of a status line counts`(line: String) throws {
    #expect(try head(line).status.code == 404)
  }

  @Test func `Lines that are no fields are passed over`() throws {
    #expect(try head("HTTP/1.1 200 OK", "nonsense", ": nameless", "sp ace: x", "A: b").headerFields.count == 1)
  }

  @Test(arguments: [Array("caf\u{E9}".utf8), Array("caf".utf8) + [0xE9], Array("cafe".utf8)])
  func `A value keeps its bytes, whatever its character set`(value: [UInt8]) throws {
    var parser = HeadParser()
    try parser.add(line: Array("Server: ".utf8) + value + Array(" \r\n".utf8))
    let bytes = parser.response.headerFields[fields: .server].first?.withUnsafeBytesOfValue { Array($0) }
    #expect(bytes == value)
  }

  @Test func `A coded body has no declared length`() throws {
    let plain = TransferHead(response: try head("HTTP/1.1 200 OK", "Content-Length: 9"))
    let coded = TransferHead(response: try head("HTTP/1.1 200 OK", "Content-Length: 9", "Content-Encoding: gzip"))
    #expect(plain.declaredLength == 9 && coded.declaredLength == nil)
  }
}
