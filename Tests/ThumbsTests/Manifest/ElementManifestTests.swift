import Foundation
import TestSupport
import Testing

@testable import thumbs

/// Returns an XML plist whose array contains `elements`.
private func plist(_ elements: String) -> String {
  "<?xml version=\"1.0\"?>\n<!DOCTYPE plist [<!ENTITY a \">\"> ]>\n"
    + "<plist version=\"1.0\">\n<array>\(elements)</array></plist>"
}

/// Returns an endless source of `head` and then `part` repeated, which counts its reads in `calls`.
private func endless(_ head: String, _ part: String, _ calls: Counter) -> ByteSource {
  ByteSource(name: "list") { buffer in
    let text = Array((calls.next() == 1 ? head : part).utf8)
    buffer.copyBytes(from: text)
    return text.count
  }
}

@Suite struct ElementManifestTests {
  @Test(
    arguments: [
      #" [ "http:\/\/a\/0]" , {"url":"http://a/1","x":["}]",{"y":"\\\"]"}]},12,null,[[]],"http://a/5,"] "#,
      plist(
        "<!-- <string>no</string> --><string>http://a/0]</string>\n<dict><key>url</key><string>http://a/1</string>"
          + "<key>x</key><array><array/><dict/><!-- > --></array></dict><integer>12</integer><true/>"
          + "<array><array/></array><?x <string>?><string><![CDATA[http://a/5,]]></string>"),
    ], [1, 7, Int.max])
  func `The elements of an array are separated, whatever the size of the reads`(text: String, step: Int) throws {
    let list = ManifestList([try Manifest(LineReader(text: text, step: step))])
    let entries = Array(list)

    #expect(list.failure == nil)
    #expect(entries.map(\.url) == ["http://a/0]", "http://a/1", nil, nil, nil, "http://a/5,"])
    #expect(entries[2].reason == "list, item 3: a number instead of a dictionary.")
  }

  @Test(arguments: [
    ("[", "{\"url\":\"http://a/1\"},"),
    ("<plist><array>", "<dict><key>url</key><string>http://a/1</string></dict>"),
  ])
  func `A row is returned before the next one is read`(head: String, part: String) throws {
    let calls = Counter()
    var manifest = try Manifest(LineReader(endless(head, part, calls)))

    for index in 0..<2000 {
      #expect(try manifest.next(index: index)?.url == "http://a/1")
      // One read for the head, one for each row, and one more to detect the format.
      #expect(calls.value <= index + 3)
    }
  }

  @Test func `The first mebibyte of a file is checked before its first row, and standard input is not`() throws {
    let flawed = "[" + String(repeating: "\"http://a/1\",", count: 100) + "x]"
    let late = "[" + String(repeating: "\"http://a/1\",", count: 90_000) + "x]"
    func open(_ text: String, isFile: Bool) throws -> ManifestList {
      var source = ByteSource.bytes(Array(text.utf8))
      source.isFile = isFile
      return ManifestList([try Manifest(LineReader(source))])
    }

    #expect(
      message { _ = try open(flawed, isFile: true) } == "list, line 1, column 1302: not valid JSON: Invalid value.")
    for list in [try open(flawed, isFile: false), try open(late, isFile: true)] {
      let entries = Array(list)
      #expect(entries.count == 100 || entries.count == 90_000)
      #expect(list.failure?.reason == "not valid JSON: Invalid value")
    }
  }

  @Test func `An element above the length limit is skipped, and its neighbors are read`() throws {
    let text = "[\"http://a/0\", {\"x\": \"\(String(repeating: "x", count: 100))\"}, \"http://a/2\"]"
    var reader = ElementReader<JSONArrayScanner>(LineReader(text: text), longest: 100)
    var lengths: [Int?] = []

    while let element = try reader.next() { lengths.append(element.bytes?.count) }

    #expect(lengths == [12, nil, 12])
  }

  @Test(arguments: [
    ("[[", "["), ("[{\"a\":", "{\"a\":"), ("<plist><array><dict>", "<array>"),
    ("<plist><array>", "<dict><key>a</key>"),
  ])
  func `Nesting above the depth limit is an error and does not crash the process`(head: String, part: String) {
    let message = message { _ = try entries(head + String(repeating: part, count: 100_000)) }
    #expect(message?.hasSuffix("is nested too deeply.") == true)
  }

  @Test(arguments: [("[", "[", "]", "]"), ("<plist><array>", "<array>", "</array>", "</array></plist>")])
  func `Nesting at the depth limit is a bad row`(head: String, open: String, close: String, tail: String) throws {
    let count = ElementLimits.depth - 1
    let text = head + String(repeating: open, count: count) + String(repeating: close, count: count) + tail

    #expect(try entries(text).map(\.reason) == ["list, item 1: an array instead of a dictionary."])
  }

  @Test(
    arguments: [
      ("[\"http://a/1\"]\n[\"http://a/2\"]", "list, line 2, column 1: not valid JSON: Invalid value."),
      ("[\"http://a/1\" \"http://a/2\"]", "list, line 1, column 15: not valid JSON: Invalid value."),
      ("[\"http://a/1\",]\n", nil),
      ("<plist><array><string>http://a/1</string></array></plist>\n<!-- end -->more", nil),
      (
        "<plist><array><string>http://a/1</string></array>\n<array/></plist>",
        "list, line 2: not a valid plist: Encountered another element after the array."
      ),
      ("<plist><array><string>http://a/1</string></array>\n\n", "list, line 1: the plist ends unexpectedly."),
    ] as [(String, String?)])
  func `Content after the last element is either ignored or an error with its place`(text: String, expected: String?) {
    var urls: [String?] = []
    #expect(message { urls = try entries(text).map(\.url) } == expected)
    #expect(expected != nil || urls == ["http://a/1"])
  }

  @Test func `A complete but invalid JSON element fails only its own row and reports its place`() throws {
    let json = try entries("[\"http://a/0\",\n {\"url\":\n  tru},\n\"http://a/2\"]")

    #expect(json.map(\.url) == ["http://a/0", nil, "http://a/2"])
    #expect(json[1].reason == "list, item 2: not valid JSON: Invalid value, at line 3.")

    let numbers = try entries("[\"http://a/0\",{\"url\":\"http://a/1\",\"n\":1e999},\"http://a/2\"]")
    #expect(numbers.map(\.url) == ["http://a/0", nil, "http://a/2"])
  }

  @Test(arguments: [#"\ud800"#, #"\uDFFFx"#, #"\ud83d\ud83d"#, #"\\\ud83dx"#, #"\ud83d\n"#])
  func `An unpaired surrogate costs only one character`(name: String) throws {
    let rows = "{\"url\":\"http://a/1\",\"name\":\"\\ud83d\\ude00 \(name)\"}"
    for (text, format) in [("[\"http://a/0\",\(rows)]", ManifestFormat.json), (rows + "\n", .jsonLines)] {
      let entry = try #require(try entries(text, format).last)
      #expect(entry.url == "http://a/1")
      #expect(entry.name?.hasPrefix("😀 ") == true && entry.name?.contains("\u{FFFD}") == true, "\(entry)")
    }
  }

  @Test(arguments: [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .isoLatin1])
  func `An XML plist in UTF-16 or Latin-1 is read`(encoding: String.Encoding) throws {
    let name = encoding == .isoLatin1 ? "ISO-8859-1" : "UTF-16"
    let text = "<?xml version=\"1.0\" encoding=\"\(name)\"?>\n<plist><array><string>http://a/é</string></array></plist>"
    let bytes = try #require(text.data(using: encoding))

    #expect(try entries(Array(bytes), .plist).map(\.url) == ["http://a/é"])
  }
}
