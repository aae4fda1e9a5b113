import DownloadSupport
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct HeadParserTests {
  private func head(_ lines: String...) throws -> HTTPResponse {
    var parser = HeadParser()
    for line in lines { try parser.add(line: "\(line)\r\n".utf8) }
    return parser.response
  }

  @Test func `The status and fields with names in any case are parsed`() throws {
    let head = try head("HTTP/1.1 200 OK", "etag: \"1\"", "Content-LENGTH:  12 ", "")

    #expect(head.status == .ok && head.headerFields[.eTag] == "\"1\"" && head.headerFields[.contentLength] == "12")
  }

  @Test func `A new status line replaces the previous head`() throws {
    let head = try head("HTTP/1.1 302 Found", "Location: /b", "ETag: \"old\"", "", "HTTP/1.1 200 OK", "")

    #expect(head.status == .ok && head.headerFields.isEmpty)
  }

  @Test(arguments: ["HTTP/2 404", "HTTP/1.0 404 Not  Found", "HTTP/1.1 404"])
  func `Only the number of a status line counts`(line: String) throws {
    #expect(try head(line).status.code == 404)
  }

  @Test func `Lines that are not header fields are ignored`() throws {
    #expect(try head("HTTP/1.1 200 OK", "nonsense", ": nameless", "sp ace: x", "A: b").headerFields.count == 1)
  }

  @Test(arguments: [Array("caf\u{E9}".utf8), Array("caf".utf8) + [0xE9], Array("cafe".utf8)])
  func `A field value keeps its bytes in any character set`(value: [UInt8]) throws {
    var parser = HeadParser()

    try parser.add(line: Array("Server: ".utf8) + value + Array(" \r\n".utf8))

    let bytes = parser.response.headerFields[fields: .server].first?.withUnsafeBytesOfValue { Array($0) }
    #expect(bytes == value)
  }

  @Test(arguments: ["Content-Type", "content-type", "CONTENT-TYPE", "X-Unknown", "x-unknown"])
  func `A field name keeps its spelling, and is found in any`(name: String) throws {
    let field = try #require(try head("HTTP/1.1 200 OK", "\(name): a", "").headerFields.first)

    #expect(field.name.rawName == name && field.name == HTTPField.Name(name.uppercased()))
  }

  @Test(arguments: [
    (["Content-Length: 9", "Content-Length: 9"], true), (["Content-Length: 9", "A: b", "content-length: 8"], false),
    (["Content-Length: 9", "Content-Length: 8", "Transfer-Encoding: chunked"], true),
    (["Content-Length: 9", "Content-Length: 9", "Content-Length: 8"], false),
  ])
  func `Only equal lengths are accepted, unless a transfer coding overrides them`(fields: [String], isGood: Bool) {
    var parser = HeadParser()
    let lines = ["HTTP/1.1 200 OK"] + fields + [""]

    let failure = Result { for line in lines { try parser.add(line: "\(line)\r\n".utf8) } }.failure

    #expect((failure == nil) == isGood)
  }

  @Test(arguments: [1000, 1001]) func `A head has at most a thousand fields`(count: Int) {
    var parser = HeadParser()
    let lines = ["HTTP/1.1 200 OK"] + Array(repeating: "A: b", count: count) + [""]

    let failure = Result { for line in lines { try parser.add(line: "\(line)\r\n".utf8) } }.failure

    #expect((failure as? FetchFailure)?.code == (count > 1000 ? .tooLargeBytes : nil))
  }

  @Test func `Repeated lengths declare no length`() throws {
    let head = TransferHead(response: try head("HTTP/1.1 200 OK", "Content-Length: 9", "Content-Length: 9", ""))

    #expect(head.declaredLength == nil)
  }

  @Test func `A body with a content coding has no declared length`() throws {
    let plain = TransferHead(response: try head("HTTP/1.1 200 OK", "Content-Length: 9"))
    let coded = TransferHead(response: try head("HTTP/1.1 200 OK", "Content-Length: 9", "Content-Encoding: gzip"))

    #expect(plain.declaredLength == 9 && coded.declaredLength == nil)
  }
}

extension HeadParser {
  fileprivate mutating func add(line: some Sequence<UInt8>) throws(FetchFailure) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
    defer { bytes.deallocate() }
    let line = Array(line)
    bytes.copyBytes(from: line)
    try add(line: UnsafeRawBufferPointer(rebasing: bytes[..<line.count]))
  }
}
