import Foundation
import Testing

@testable import thumbs

/// Returns an XML plist whose third line begins with `body`.
private func xml(_ body: String) -> String {
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(body)"
}

@Suite struct DocumentManifestTests {
  private static let apps = [
    ["name": "Mail", "icon": "http://a/mail.png", "download": "http://a/mail.zip"],
    ["name": "Café", "icon": " http://a/café.png\n"],
  ]

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `A plist of dictionaries is recognized and read in XML and binary form`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let data = try PropertyListSerialization.data(fromPropertyList: Self.apps, format: format, options: 0)

    let entries = try entries(Array(data))

    #expect(entries.map(\.url) == ["http://a/mail.png", "http://a/café.png"])
    #expect(entries.map(\.name) == ["Mail", "Café"])
    #expect(entries.map(\.line) == [nil, nil])
  }

  @Test func `Plist rows without a URL fail without affecting other rows`() throws {
    let entries = try entries(
      xml("<array><string>http://a/1</string><array/><dict><key>icon</key><integer>3</integer></dict><dict/></array>")
        + "</plist>")
    #expect(entries.map(\.url) == ["http://a/1", nil, nil, nil])
    #expect(
      entries.dropFirst().map(\.reason) == [
        "list, item 2: an array instead of a dictionary.",
        "list, item 3: no URL: icon is a number, not a string.",
        "list, item 4: no URL: there is no icon, url, image or src.",
      ])
  }

  @Test func `A JSON array contains objects and URLs`() throws {
    let entries = try entries("\u{FEFF} [{\"src\": \"http://a/1\", \"title\": \"One\"}, \"http://a/2\", null]")
    #expect(entries.map(\.url) == ["http://a/1", "http://a/2", nil])
    #expect(entries.map(\.name) == ["One", nil, nil])
  }

  @Test(
    arguments: [
      (
        xml("<array>\n<dict><key>a</key>\n<strin>x</strin></dict></array></plist>"), .plist,
        "list, line 5: not a valid plist: Encountered unknown tag strin."
      ),
      (
        xml("<array>\n<dict><string>x</string></dict></array></plist>"), .plist,
        "list, line 4: not a valid plist: Found non-key inside <dict>."
      ),
      (xml("<array>\n<dict><key>a</key>\n<string>x"), .plist, "list, line 5: the plist ends unexpectedly."),
      (xml("<dict/></plist>"), .plist, "list: the top level of the plist is not an array."),
      ("http://a/1.png\nhttp://a/2.png\n", .plist, "list, line 1: not a valid plist: Unexpected character h."),
      ("word", .plist, "list: not a plist in XML or binary form."),
      ("bplist00garbage", .plist, "list: the binary plist is damaged."),
      ("bplist00\u{1}\u{2}\u{3}", .plist, "list: the binary plist is damaged."),
      ("[{\"a\": 1},\n  \"éé\", x]", .json, "list, line 2, column 9: not valid JSON: Invalid value."),
      ("[{\"a\": 1},\n\"b\"\n\n", .json, "list, line 2: the JSON ends unexpectedly."),
      ("17", .json, "list: the top level of the JSON is not an array."),
      ("<other>", nil, "list, line 1: not a valid plist: Encountered unknown tag other."),
      ("\u{89}PNG\r\n\u{1A}\n\0\0\0", nil, "list: is binary data, not a manifest."),
    ] as [(String, ManifestFormat?, String)])
  func `A malformed manifest is an error with its place`(text: String, format: ManifestFormat?, expected: String) {
    #expect(message { _ = try entries(text, format) } == expected)
  }

  @Test(arguments: ["", "\u{FEFF}", "\n\n", String(repeating: " \r\n", count: 99)], [nil] + ManifestFormat.allCases)
  func `A blank list lacks rows`(text: String, format: ManifestFormat?) {
    #expect(message { _ = try entries(text, format) } == "list: no rows: it is empty.")
  }

  @Test(
    arguments: [
      (xml("<array/></plist>"), ManifestFormat.plist, "its array is empty"), ("[]", .json, "its array is empty"),
      ("# nothing yet\n\n", .text, "it has only comments"), ("id,url\n\n", .csv, "it has only a header row (id, url)"),
      ("id\turl\r\n", .tsv, "it has only a header row (id, url)"), ("\n{\"a\": []}\n", .json, nil),
    ] as [(String, ManifestFormat, String?)])
  func `A list without rows says what it has instead`(text: String, format: ManifestFormat, found: String?) {
    let message = message { _ = try entries(text, format) }
    let other = "list: the JSON is an object with no array of rows; it has a; name the array as in --url-column "
    #expect(message == (found.map { "list: no rows: \($0)." } ?? other + "'items[].url'."))
  }
}
