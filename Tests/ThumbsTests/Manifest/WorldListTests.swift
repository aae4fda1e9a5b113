import BatchFetch
import Foundation
import Testing

@testable import thumbs

/// Lists as spreadsheets, databases and services write them.
@Suite struct WorldListTests {
  // MARK: Encodings

  @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian], ["\t", ",", ";"])
  func `UTF-16 with a byte-order mark is read`(encoding: String.Encoding, separator: String) throws {
    let text =
      "\u{FEFF}" + ["name", "url"].joined(separator: separator) + "\r\n"
      + ["é🐟", "http://a/é.png"].joined(separator: separator) + "\r\n"
    let bytes = [UInt8](try #require(text.data(using: encoding)))

    let entries = try entries(bytes, separator == "\t" ? .tsv : .csv)

    #expect(entries.map(\.url) == ["http://a/é.png"] && entries.map(\.name) == ["é🐟"])
  }

  @Test(arguments: [1, 2, 3, 5, 1000]) func `UTF-16 is the same, whatever the size of the reads`(step: Int) throws {
    let text = "\u{FEFF}http://a/🐟é\nhttp://a/2\n"
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
      let bytes = [UInt8](try #require(text.data(using: encoding)))
      var reader = LineReader(ByteSource.bytes(bytes, step: step).decodingUTF16(), chunkLength: 8)
      #expect(try reader.next()?.bytes == Array("http://a/🐟é".utf8))
      #expect(try reader.next()?.bytes == Array("http://a/2".utf8))
      #expect(try reader.next() == nil)
    }
  }

  @Test func `Other bytes pass the filter for UTF-16 unchanged`() throws {
    for bytes in [
      [], [0xFF], [0xFE], [0xFF, 0xFE], [0xFF, 0xFD, 1], Array("http://a".utf8), [0xFF, 0xFE, 0x3C, 0, 1],
    ] {
      let text = try ByteSource.bytes(bytes, step: 1).decodingUTF16().bytes(limit: 100)
      #expect(text == (bytes == [0xFF, 0xFE] ? [] : bytes))
    }
  }

  @Test func `A CSV in Windows-1252 is read`() throws {
    let bytes = Array("name,url\r\n".utf8) + [0x80, 0x20, 0xE9, 0x2C] + Array("http://a/".utf8) + [0x9C, 0x0D, 0x0A]

    let entries = try entries(bytes, .csv)

    #expect(entries.map(\.name) == ["€ é"] && entries.map(\.url) == ["http://a/œ"])
  }

  @Test func `The first line that is not ASCII decides the encoding of a list`() throws {
    let (utf8, other): ([UInt8], [UInt8]) = ([0xC3, 0xA9], [0xE9])
    var decoder = TextDecoder()
    #expect(decoder.text([0x61]) == "a" && decoder.text(utf8) == "é" && decoder.text(other) == nil)
    decoder = TextDecoder()
    #expect(decoder.text(other) == "é" && decoder.text(utf8) == "Ã©")
  }

  @Test func `Lines may end with CR alone`() throws {
    #expect(try entries("name,url\ra,http://a/1\rb,http://a/2\r", .csv).map(\.url) == ["http://a/1", "http://a/2"])
    #expect(try entries("http://a/1\rhttp://a/2", .text).map(\.url) == ["http://a/1", "http://a/2"])
    #expect(try entries("{\"url\": \"http://a/1\"}\r\"http://a/2\"\r", .jsonLines).count == 2)
  }

  // MARK: Values

  @Test(arguments: [("101", "101"), ("1.5", "1.5"), ("\"x\"", "x"), ("null", nil), ("[]", nil)])
  func `A number is a name`(value: String, name: String?) throws {
    let text = "[{\"id\": \(value), \"url\": \"http://a/1\"}]"
    #expect(try entries(text, .json, keys: ManifestKeys(nameKey: "id")).map(\.name) == [name])
  }

  @Test func `A number in a plist is a name`() throws {
    let text = "<plist><array><dict><key>id</key><integer>7</integer><key>url</key><string>http://a/1</string></dict>"
    #expect(
      try entries(text + "</array></plist>", .plist, keys: ManifestKeys(nameKey: "id")).map(\.name) == ["7"])
  }

  @Test func `NaN and Infinity are like null`() throws {
    let text = #"[{"url": "http://a/NaN", "w": NaN}, {"url": NaN}, NaN, {"url": "http://a/\"NaN", "w": [-Infinity]}]"#
    let entries = try entries(text, .json)
    #expect(entries.map(\.url) == ["http://a/NaN", nil, nil, "http://a/\"NaN"])
    #expect(entries[1].reason == "list, item 2: no URL: url is null, not a string.")
  }

  // MARK: Nested values

  @Test(arguments: [
    ("image.url", #"{"image": {"url": "http://a/1"}}"#), ("image.url", #"{"image.url": "http://a/1"}"#),
    ("sizes[1].src", #"{"sizes": [{"src": "x"}, {"src": "http://a/1"}]}"#),
    ("sizes.src", #"{"sizes": [{"src": "http://a/1"}]}"#), ("a.b.c", #"{"a": {"b": {"c": "http://a/1"}}}"#),
    ("image", #"{"image": {"width": 1, "url": "http://a/1"}}"#), ("image", #"{"image": ["http://a/1", "x"]}"#),
  ])
  func `A path leads to a URL inside a row`(path: String, row: String) throws {
    let keys = ManifestKeys(urlKey: path)
    #expect(try entries("[\(row)]", .json, keys: keys).map(\.url) == ["http://a/1"])
    #expect(try entries(row + "\n", .jsonLines, keys: keys).map(\.url) == ["http://a/1"])
  }

  private static let wrapped = [
    #"{"total": 2, "tags": ["a", "b"], "items": [{"url": "http://a/1"}, {"url": "http://a/2"}], "next": {"url": "x"}}"#,
    #"{"data": {"photos": {"photo": [{"url": "http://a/1"}, {"url": "http://a/2"}]}}}"#,
    #"{"ok": true, "n": -1.5e3, "s": "[{\"url\": \"x\"}]", "urls": ["http://a/1", "http://a/2"]}"#,
    #"{"e": [], "f": [[{"url": "x"}]], "g": {"h": [1, {"url": "x"}]}, "rows": [{"url": "http://a/1"}, "http://a/2"]}"#,
  ]

  @Test(arguments: wrapped, [ManifestFormat.json, nil])
  func `The rows may be in an object`(text: String, format: ManifestFormat?) throws {
    let pretty = text.replacingOccurrences(of: ", ", with: ",\n  ").replacingOccurrences(of: "{\"", with: "{\n\"")
    for text in [text, pretty] where format == .json || !text.contains("urls") {
      #expect(try entries(text, format).map(\.url) == ["http://a/1", "http://a/2"], "\(text)")
    }
  }

  @Test func `The path of the URL may name the array of rows`() throws {
    let text = """
      {"ads": [{"image": {"url": "x"}}], "result": {"items": [
        {"title": "A", "image": {"url": "http://a/1"}}, {"title": "B", "image": {"url": "http://a/2"}}], "more": [1]}}
      """
    let keys = ManifestKeys(urlKey: "result.items[].image.url", nameKey: "result.items[].title")

    for format in [ManifestFormat.json, nil] {
      let entries = try entries(text, format, keys: keys)
      #expect(entries.map(\.url) == ["http://a/1", "http://a/2"] && entries.map(\.name) == ["A", "B"])
    }
    #expect(
      message { _ = try entries(text, .json, keys: ManifestKeys(urlKey: "rows[].url")) }
        == "list: the JSON is an object with no array rows; it has ads, result.items, result.more; name the array as "
        + "in --url-column 'items[].url'.")
  }

  @Test(arguments: ["{", "{\"a\"", "{\"a\": [", "{\"a\": [{\"url\": \"x\"}", "{\"a\": \"x"])
  func `An object that is cut is an error`(text: String) {
    #expect(message { _ = try entries(text, .json) }?.contains("the JSON ends unexpectedly") == true)
  }

  @Test func `Rows on lines stay rows, whatever they contain`() throws {
    let lines = [
      #"{"url": "http://a/1", "tags": [{"url": "x"}]}"#, #"{"urls": ["http://a/2", "http://b/2"]}"#, "broken",
      #"{"no": 1}"#,
    ]
    for first in lines.indices {
      let rotated = lines[first...] + lines[..<first]
      guard rotated.first?.hasPrefix("{") == true else { continue }
      #expect(try entries(rotated.joined(separator: "\n")).count == 4)
    }
  }

  // MARK: Relative URLs

  @Test func `Relative URLs are resolved against the base`() throws {
    let base = try ManifestBase.url(SourceURL("http://h/d/x?q"))
    let expected = [
      "a.png": "http://h/d/a.png", "/b": "http://h/b", "//i/c": "http://i/c", "../e f": "http://h/e%20f",
      "https://j/d é": "https://j/d é", "?r": "http://h/d/x?r", "mailto:x": "mailto:x",
    ]
    for (url, whole) in expected { #expect(base.resolve(url) == whole) }
  }
}
