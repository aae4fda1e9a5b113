import Foundation
import TestSupport
import Testing

@testable import Downloads

/// A URL, the URL that it is relative to, and what the URL standard makes of it: without credentials and fragment; nil
/// if it is no URL. `Tests/Fixtures/make-urls.py` says where the rows come from.
private struct Row: CustomTestStringConvertible {
  let text: String
  let base: String
  let expected: String?

  static let all: [Row] = {
    let path = URL(filePath: #filePath).appending(path: "../../../Fixtures/urls.jsonl").standardized
    let lines = (try? String(contentsOf: path, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.compactMap { line in
      let values = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any]
      guard let values, let text = values[0] as? String, let base = values[1] as? String else { return nil }
      return Row(text: text, base: base, expected: values[2] as? String)
    }
  }()

  /// The canonical form that we read; nil if the text is rejected.
  var read: String? {
    if base.isEmpty { return (try? SourceURL(text))?.description }
    return (try? SourceURL(base)).flatMap { (try? SourceURL(text, relativeTo: $0))?.description }
  }

  var testDescription: String { text.debugDescription + (base.isEmpty ? "" : " at \(base)") }
}

@Suite struct URLStandardTests {
  /// The rows that differ on purpose.
  private static let rejected = [
    "Name servers know no empty label (RFC 1035, section 2.3.1).": [
      "http://../", "http://./", "http://.a/", "http://a../", "http://a..b/",
    ],
    "Nothing listens at port 0.": ["http://f:0/c", "http://f:00000000000000/c"],
  ]
  /// libcurl's library removes the character where the standard rejects the name.
  private static let accepted = ["http://a\u{200D}b.example/"]

  @Test func `URLs are read as by browsers, but for hosts that cannot be looked up`() {
    #expect(Row.all.count > 390)
    for row in Row.all {
      if Self.rejected.values.contains(where: { $0.contains(row.text) }) {
        #expect(row.read == nil && row.expected != nil, "\(row.testDescription)")
      } else if Self.accepted.contains(row.text) {
        #expect(row.read != nil && row.expected == nil, "\(row.testDescription)")
      } else {
        #expect(row.read == row.expected, "\(row.testDescription)")
      }
    }
  }

  @Test func `A canonical URL stays as it is`() throws {
    for text in Row.all.compactMap(\.read) {
      #expect(try SourceURL(text).description == text)
      #expect(try SourceURL(parsing: text).description == text)
    }
  }

  @Test(
    arguments: [
      ("/caf\u{E9}", [0x2F, 0x63, 0x61, 0x66, 0xE9], "http://h/caf%E9"),
      ("é", [0xC3, 0xA9], "http://h/%C3%A9"), ("tab", [0x61, 0x09, 0x62], "http://h/ab"),
    ] as [(String, [UInt8], String)])
  func `Bytes of a reference that are not UTF-8 are encoded as they are`(
    name: String, bytes: [UInt8], expected: String
  ) throws {
    #expect(try SourceURL(bytes, relativeTo: SourceURL("http://h/")).description == expected)
  }

  @Test(
    arguments: [
      ("http://u@v@w@h/a", "u%40v%40w"), ("http://a:b:c@h/", "a:b%3Ac"), ("http://:@h/", nil), ("http://:p@h/", ":p"),
      ("http://u:@h/", "u:"), ("http://u v:p/q@h/", nil), ("http://u%20v:p%2Fq@h/", "u%20v:p%2Fq"),
    ] as [(String, String?)])
  func `The last at sign ends the credentials`(text: String, credentials: String?) {
    #expect((try? SourceURL(text))?.credentials == credentials)
  }

  @Test(arguments: [
    ("file:///a b", "file:///a%20b"), ("file:/a", "file:///a"), ("FILE://LOCALHOST/a", "file:///a"),
    ("file://127.0.0.1/a?b#c", "file:///a"), ("file:///a/../b", "file:///b"), ("file://host/a", nil), ("file:a", nil),
  ])
  func `The URL of a file names this machine or none`(text: String, expected: String?) {
    #expect((try? SourceURL(text))?.description == expected)
  }
}
