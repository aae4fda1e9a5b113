import ArgumentParser
import BatchFetch
import HTTPTypes
import ImageCache
import Testing

@testable import thumbs

extension ManifestEntry {
  fileprivate var options: RowOptions? { if case .row(let row) = self { row.options } else { nil } }
}

@Suite struct RowOptionsTests {
  @Test(arguments: [
    (
      ManifestFormat.jsonLines,
      #"{"url":"http://a/1","size":"64 32x16@2x","headers":{"Referer":"http://r/","X-A":"1"},"#
        + #""priority":"high","depends":["a b","c"],"urls":["http://a/1","http://b/1,2"],"subtitle":"One"}"#
    ),
    (
      .json,
      #"[{"url":"http://a/1","size":[64,"32x16@2x"],"headers":"Referer: http://r/\nX-A: 1","#
        + #""priority":"High","depends":["a b","c"],"urls":"http://b/1,2","subtitle":"One"}]"#
    ),
    (
      .csv,
      "url,size,headers,priority,depends,urls,subtitle\n"
        + "http://a/1,\"64,32x16@2x\",\"Referer: http://r/\nX-A: 1\",high,\"a b\nc\",\"http://b/1,2\",One\n"
    ),
    (
      .csv,
      "size,headers,priority,depends,urls,subtitle\n"
        + "64 32x16@2x,\"Referer: http://r/\nX-A: 1\",high,\"a b\nc\",\"http://a/1 http://b/1,2\",One\n"
    ),
  ])
  func `Every manifest format has the same option columns`(format: ManifestFormat, text: String) throws {
    let entries = try entries(text, format)
    let options = try #require(entries.first?.options)

    #expect(entries.map(\.url) == ["http://a/1"])
    #expect(options.sizes.map(\.description) == ["64", "32x16@2x"])
    #expect(options.headers.map(\.name) == ["Referer", "X-A"])
    #expect(options.headers.map(\.value) == ["http://r/", "1"])
    #expect(options.priority == .high)
    #expect(options.mirrors == ["http://b/1,2"])
    #expect(options.depends == ["a b", "c"])
    #expect(options.subtitle == "One")
  }

  @Test(arguments: [
    (#""size":"big""#, "size: give a size such as 256, 200x100, 200x, 64@2x or 200x100@2x"),
    (#""size":{}"#, "size: give a string, or an array of strings"),
    (#""headers":{"A":[]}"#, "headers: the value of A is not a string"),
    (#""headers":"A b: c""#, "headers: the name before the colon may contain only letters, digits and -"),
    (#""headers":{"A":"b\r\nC: d"}"#, "headers: the value must not contain line breaks or other control characters"),
    (
      #""focus":"top""#,
      "focus: give center, a point of the compass such as north or southeast, smart, or percentages such as 30%,70%"
    ),
    (
      #""focus":[30,70]"#,
      "focus: give center, a point of the compass such as north or southeast, smart, or percentages such as 30%,70%"
    ),
    (#""priority":"soon""#, "priority: give low, normal or high"),
    (#""headers":{"Content-Length":60}"#, "headers: Content-Length is set by thumbs itself and cannot be overridden"),
    (#""headers":"If-Match: *""#, "headers: If-Match is set by thumbs itself and cannot be overridden"),
  ])
  func `An invalid column makes a bad row whose reason names the column`(member: String, reason: String) throws {
    let entries = try entries("{\"url\":\"http://a/1\",\(member)}\n\"http://a/2\"\n", .jsonLines)

    #expect(entries.map(\.url) == [nil, "http://a/2"])

    let column = reason.prefix { $0 != ":" }
    #expect(entries[0].reason == "list, line 1: \(reason) (--\(column)-column none ignores the column).")
  }

  @Test func `Empty and null columns have no effect`() throws {
    let entries = try entries(#"{"url":"http://a/1","size":null,"headers":"","priority":" ","urls":[]}"#, .jsonLines)
    #expect(entries.map(\.options) == [RowOptions()])
  }

  @Test func `The focus of a row replaces the gravity of the command line for that row`() throws {
    let pixels = try PixelOptions.parse(["--size", "10,20", "--fit", "cover", "--gravity", "North"])
    let list = "url,focus,size\nhttp://a/1,,\nhttp://a/2, Smart ,\nhttp://a/3,30% 70%,5\nhttp://a/4,\"0%, 5.5%\",\n"

    let rows = try entries(list, .csv).map { pixels.rowSpecs(try #require($0.options)) }

    #expect(
      rows.map { $0.map(\.gravity.description) } == [
        ["north", "north"], ["smart", "smart"], ["30%,70%"], ["0%,5.5%", "0%,5.5%"],
      ])
    #expect(rows.map { $0.map(\.label) } == [["10x10", "20x20"], ["10x10", "20x20"], ["5x5"], ["10x10", "20x20"]])
    #expect(rows.joined().allSatisfy { $0.fit == .cover })
  }

  @Test func `A row's own options take precedence over the command line`() throws {
    let pixels = try PixelOptions.parse(["--size", "10", "--quality", "50"])
    var row = ManifestRow(index: 0, line: nil, name: nil, url: "http://a/1")
    let fields: HTTPFields = [.referer: "http://general/", .accept: "*/*"]
    let plain = try PlannedRow(entry: .row(row), specs: pixels.specs).request(headerFields: fields)

    #expect(plain.specs.map(\.label) == ["10x10"])
    #expect(plain.headerFields == fields)

    row.options.sizes = [try SizeOption("20"), try SizeOption("20"), try SizeOption("30")]
    row.options.headers = [try HeaderOption("referer: http://own/")]
    row.options.mirrors = ["http://b/1"]
    let specs = pixels.specs(of: row.options.sizes, focus: nil)
    let own = try PlannedRow(entry: .row(row), specs: specs).request(headerFields: fields)

    #expect(own.specs.map(\.label) == ["20x20", "30x30"])
    #expect(own.specs.map(\.quality) == [50, 50])
    #expect(own.headerFields == [.accept: "*/*", .referer: "http://own/"])
    #expect(own.mirrors == ["http://b/1"])
  }
}

@Suite struct BaseDirectoryTests {
  @Test(arguments: [
    ("a b.png", "file:///w/lists/a%20b.png"), ("../up/é?#%41.png", "file:///w/lists/../up/%C3%A9%3F%23%2541.png"),
    ("/abs/x.png", "file:///abs/x.png"), ("http://h/x.png", "http://h/x.png"), ("//h/x.png", "//h/x.png"),
    ("file:///x", "file:///x"), ("data:image/png;base64,", "data:image/png;base64,"),
    ("3:4.png", "file:///w/lists/3%3A4.png"),
  ])
  func `A relative URL is the literal name of a file in the manifest's directory`(url: String, expected: String) {
    #expect(BaseDirectory(manifest: "lists/apps.txt", workingDirectory: "/w").resolve(url) == expected)
  }

  @Test func `Relative URLs of a manifest in the root directory are files in the root directory`() {
    #expect(BaseDirectory(manifest: "/a.txt").resolve("x") == "file:///x")
  }

  @Test func `The base is the directory of an absolute manifest and the working directory for standard input`() {
    #expect(BaseDirectory(manifest: "/m/a.txt", workingDirectory: "/w").resolve("x") == "file:///m/x")
    #expect(BaseDirectory(manifest: "-", workingDirectory: "/w").resolve("x") == "file:///w/x")
  }
}
