import ArgumentParser
import Testing

@testable import thumbs

@Suite struct DelimitedManifestTests {
  @Test func `Quoted CSV fields contain commas, quotes and line ends`() throws {
    let text = #"""
      name,url,note
      "Mail, ""new""",http://a/1.png,x
      "two
      lines","http://a/2,3.png",

      6" plate,http://a/4.png,end
      """#

    let entries = try entries(text, .csv)

    #expect(entries.map(\.name) == ["Mail, \"new\"", "two\nlines", "6\" plate"])
    #expect(entries.map(\.url) == ["http://a/1.png", "http://a/2,3.png", "http://a/4.png"])
    #expect(entries.map(\.line) == [2, 3, 6])
  }

  @Test func `A quote in TSV is an ordinary character`() throws {
    let entries = try entries("icon\tname\nhttp://a/1,2\t\"6 inch\nhttp://a/2\t\n", .tsv)
    #expect(entries.map(\.url) == ["http://a/1,2", "http://a/2"])
    #expect(entries.map(\.name) == ["\"6 inch", nil])
  }

  @Test(arguments: [
    ("Name;URL;Size\r\nAnn;http://a/1,5.png;64\r\n", ManifestFormat.csv),
    ("\u{FEFF}URL;name;SIZE\nhttp://a/1,5.png;Ann;64", .csv),
    ("\n\nname\tIcon\tsize\n\"Ann\"\thttp://a/1,5.png\t64\n", .csv),
    ("Size,url,NAME\n64,\"http://a/1,5.png\",Ann\n", .csv),
    ("\"Title\";\"Image\";\"size\"\nAnn;\"http://a/1,5.png\";64;\n", .csv),
    ("Title\tSRC\tsize\nAnn\thttp://a/1,5.png\t64\n", .tsv),
    ("sep=;\r\nname;url;size\r\nAnn;http://a/1,5.png;64\r\n", .csv),
    ("\"SEP=|\"\n\nname|url|size\nAnn|http://a/1,5.png|64\n", .csv),
    ("sep=;\nname,url,size\nAnn,\"http://a/1,5.png\",64\n", .csv),
  ])
  func `Columns in any case and with other separators are recognized`(text: String, format: ManifestFormat) throws {
    let entries = try entries(text, format)

    #expect(entries.map(\.url) == ["http://a/1,5.png"] && entries.map(\.name) == ["Ann"])
    guard case .row(let row) = entries[0] else { throw CancellationError() }
    #expect(row.options.sizes.map(\.description) == ["64"])
  }

  @Test func `A column in its own case comes before one in another case`() throws {
    let entries = try entries("URL,url\nhttp://a/1,http://a/2\n", .csv)
    #expect(entries.map(\.url) == ["http://a/2"])
  }

  @Test(arguments: [
    ("url;name\nhttp://a/1;b;c\n", "put a field that contains a semicolon in quotes"),
    ("url,name\nhttp://a/1,b,c\n", "put a field that contains a comma in quotes"),
    ("url\tname\nhttp://a/1\tb\tc\n", "put a field that contains a tab in quotes"),
  ])
  func `A row with more fields than the header row is a bad row`(text: String, advice: String) throws {
    #expect(try entries(text, .csv).map(\.reason) == ["list, line 2: 3 fields, but the header row has 2; \(advice)."])
  }

  @Test func `The advice about a declared separator names it`() throws {
    let reason = try entries("sep=|\nurl|name\nhttp://a/1|b|c\n", .csv)[0].reason
    #expect(reason == "list, line 3: 3 fields, but the header row has 2; put a field that contains a '|' in quotes.")
  }

  @Test func `The name column can be ignored`() throws {
    let keys = try ColumnOptions.parse(["--name-column", "none", "--subtitle-column", "none"]).keys
    #expect(try entries("url,name,none\nhttp://a/1,Ann,x\n", .csv, keys: keys).map(\.name) == [nil])
    #expect(keys.subtitle == [])
  }

  @Test func `Custom column names replace the default ones`() throws {
    let keys = ManifestKeys(urlKey: "photo", nameKey: "who")

    let entries = try entries("url,photo,who\r\nu,http://a/p.png,Ann\r\n", .csv, keys: keys)

    #expect(entries.map(\.url) == ["http://a/p.png"])
    #expect(entries.map(\.name) == ["Ann"])
  }

  @Test func `A short row and an unclosed quote are bad rows`() throws {
    let entries = try entries("name,url\nonly\nb,http://a/b\n\"open,http://a/c\nrest\n", .csv)

    #expect(entries.map(\.url) == [nil, "http://a/b", nil])
    #expect(entries[0].reason == "list, line 2: no URL: the row ends before the URL column.")
    #expect(entries[2].reason == "list, line 4: a quote is opened but never closed.")
  }

  @Test func `A header row without a URL column is an error that suggests --url-column`() {
    let message = message { _ = try entries("http://a/1.png\nhttp://a/2.png\n", .csv) }
    #expect(
      message
        == "list, line 1: the header row has no column named icon, url, image or src; "
        + "name the URL column with --url-column, one of http://a/1.png.")
  }
}
