import TestSupport
import Testing

@testable import thumbs

@Suite struct InputProgressTests {
  /// Reads `rows` rows in a chunk of `bytes` bytes.
  private func read(_ progress: inout InputProgress, _ part: Int, bytes: Int, rows: Int) {
    progress.willRead(part)
    progress.didRead(part, count: bytes)
    for _ in 0..<rows { progress.passRow(of: part) }
  }

  @Test func `The number of rows is estimated from the chunks whose rows have been returned`() {
    var progress = InputProgress()
    let part = progress.add(size: 1000)
    #expect(progress.total == .unknown)

    read(&progress, part, bytes: 100, rows: 10)
    #expect(progress.total == .unknown)

    // The rows of the second chunk have begun, so the first chunk counts: 10 rows in 100 bytes.
    read(&progress, part, bytes: 100, rows: 7)
    #expect(progress.total == .about(100))

    progress.end(part)
    #expect(progress.total == .exactly(17))
  }

  @Test func `A pipe gives no estimate until it ends`() {
    var progress = InputProgress()
    let part = progress.add(size: nil)
    for _ in 0..<3 { read(&progress, part, bytes: 100, rows: 10) }
    #expect(progress.total == .unknown)

    progress.end(part)
    #expect(progress.total == .exactly(30))
  }

  @Test func `Manifests that are not read yet are estimated by their sizes`() {
    var progress = InputProgress()
    let (first, second) = (progress.add(size: 100), progress.add(size: 400))
    progress.didRead(second, count: 50)
    read(&progress, first, bytes: 100, rows: 10)
    progress.end(first)
    #expect(progress.total == .about(50))

    _ = progress.add(size: nil)
    #expect(progress.total == .unknown)
  }

  @Test func `URLs as arguments count next to the estimate of a manifest`() throws {
    var progress = InputProgress()
    let (urls, file) = (progress.add(size: nil), progress.add(size: 100))
    progress.setRows(2, of: urls)
    progress.setRows(5, of: file)
    #expect(progress.total == .exactly(7))

    let third = progress.add(size: 200)
    #expect(progress.total == .about(17))
    progress.setRows(1, of: third)
    #expect(try ManifestList(inputs: [.url("http://a/1"), .url("http://a/2")]).expectedRows == .exactly(2))
  }

  @Test func `Known numbers of rows are exact`() {
    var progress = InputProgress()
    let parts = [progress.add(size: 100), progress.add(size: 100)]
    progress.setRows(7, of: parts[0])
    #expect(progress.total == .about(14))

    progress.setRows(9, of: parts[1])
    #expect(progress.total == .exactly(16))
  }

  @Test func `A file that grows or has a wrong size does no harm`() {
    var progress = InputProgress()
    let part = progress.add(size: 0)
    for _ in 0..<3 { read(&progress, part, bytes: 100, rows: 10) }
    #expect(progress.total == .about(30))
  }

  @Test(arguments: ["list.txt", "list.txt.gz", "list.jsonl", "list.json", "list.csv", "list.csv.gz"])
  func `The estimate for a file is close after a third of its rows`(name: String) throws {
    let (directory, count) = (try TemporaryDirectory(), 60_000)
    let rows = (0..<count).map { number -> String in
      let url = "http://host-\(number * 7919 % 1000).example/\(number).png"
      return name.contains("json") ? #"{"url":"\#(url)"}"# : url
    }
    let text =
      switch name.split(separator: ".")[1] {
      case "json": "[" + rows.joined(separator: ",\n") + "]"
      case "csv": "url\n" + rows.joined(separator: "\n") + "\n"
      default: rows.joined(separator: "\n") + "\n"
      }
    let path = try directory.write(name.hasSuffix(".gz") ? gzipped(text) : Array(text.utf8), as: name)
    let list = try ManifestList(paths: [path])

    for _ in 0..<(count / 3) { _ = list.next() }

    guard case .about(let estimate) = list.expectedRows else { throw CancellationError() }
    #expect(abs(estimate - count) < count / 15, "\(estimate)")

    while list.next() != nil {}
    #expect(list.expectedRows == .exactly(count))
  }

  @Test func `A file called .json with a row on each line is read as JSON Lines`() throws {
    let directory = try TemporaryDirectory()
    let rows = "{\"URL\":\"http://a/1\",\"Name\":\"x\"}\n{\"url\":\"http://a/2\"}\n"
    let path = try directory.write(rows, as: "a.json")
    let list = try ManifestList(paths: [path, path])

    let entries = Array(list)

    #expect(entries.map(\.url) == ["http://a/1", "http://a/2", "http://a/1", "http://a/2"])
    #expect(entries.map(\.name) == ["x", nil, "x", nil])
    guard case .row(let row) = entries[0] else { throw CancellationError() }
    #expect(row.manifest == path)

    let other = try directory.write("{\"rows\":[]}\n", as: "b.json")
    #expect(message { _ = try ManifestList(paths: [other]) }?.contains("no array of rows") == true)
  }

  @Test func `The format of the command line takes precedence over the name`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("Name;Url\nAnn;http://a/1\n", as: "list.txt")
    #expect(try ManifestList(paths: [path], format: .csv).map(\.name) == ["Ann"])
    #expect(
      ManifestFormat.allCases.map(\.rawValue) == [
        "plist", "json", "jsonl", "csv", "tsv", "text", "html", "feed", "markdown",
      ])
  }
}
