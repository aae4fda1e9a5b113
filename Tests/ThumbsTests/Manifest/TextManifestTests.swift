import Testing

@testable import thumbs

@Suite struct TextManifestTests {
  @Test(arguments: [
    "http://b/y,1.jpg", "http://b/a b.png", "http://b/\"q\".png", "http://b/a;b|c{d}.png", "http://b/x.png#top",
    "http://bücher.example/ä.png", "not a URL at all",
  ])
  func `A URL in a text manifest is taken literally`(url: String) throws {
    #expect(try entries(url + "\n", .text).map(\.url) == [url])
  }

  @Test func `Comments, empty lines, byte-order marks and surrounding spaces are skipped`() throws {
    let text = "\u{FEFF}# icons\r\n\r\n  http://a/1.png \t\r\n   # more\nhttp://a/2.png"

    let entries = try entries(text)

    #expect(entries.map(\.url) == ["http://a/1.png", "http://a/2.png"])
    #expect(entries.map(\.line) == [3, 5])
    #expect(entries.map(\.index) == [0, 1])
  }

  @Test func `A line that is not UTF-8 in a list that is UTF-8 is a bad row, and the other lines are read`() throws {
    let bytes = Array("http://a/é\n".utf8) + [0x68, 0xFF, 0x0A] + Array("http://a/2\n".utf8)

    let entries = try entries(bytes, .text)

    #expect(entries.map(\.url) == ["http://a/é", nil, "http://a/2"])
    #expect(entries[1].reason == "list, line 2: the line is not valid UTF-8.")
  }

}

@Suite struct JSONLinesManifestTests {
  @Test func `JSON objects and strings are rows`() throws {
    let text = """
      {"name": "Mail", "icon": "http://a/mail.png", "size": 4}

      "http://a/2.png"
      {"image": "http://a/\\u00e9.png", "title": 7}
      """

    let entries = try entries(text)

    #expect(entries.map(\.url) == ["http://a/mail.png", "http://a/2.png", "http://a/é.png"])
    #expect(entries.map(\.name) == ["Mail", nil, "7"])
    #expect(entries.map(\.line) == [1, 3, 4])
  }

  @Test(arguments: [
    ("{\"url\": ", "list, line 2: not JSON: the JSON ends unexpectedly."),
    ("[1]", "list, line 2: an array instead of a dictionary."),
    ("17", "list, line 2: a number instead of a dictionary."),
    ("{\"a\": 1}", "list, line 2: no URL: there is no icon, url, image or src; the row has a."),
    ("{\"url\": 5}", "list, line 2: no URL: url is a number, not a string."),
    ("{\"url\": \" \"}", "list, line 2: the URL is empty."),
  ])
  func `A JSON line without a usable row is reported with its place`(line: String, reason: String) throws {
    let entries = try entries("{\"url\":\"http://a/1\"}\n\(line)\n{\"url\":\"http://a/3\"}\n", .jsonLines)
    #expect(entries.map(\.url) == ["http://a/1", nil, "http://a/3"])
    #expect(entries[1].reason == reason)
  }
}
