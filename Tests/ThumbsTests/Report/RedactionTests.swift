import Foundation
import Testing

@testable import BatchFetch
@testable import thumbs

private let punctuation = (0x20..<0x7F).compactMap { Unicode.Scalar($0) }.map(Character.init).filter {
  !$0.isLetter && !$0.isNumber
}

/// Addresses with `mark` in the user or the password, among the usual letters.
private func addresses(_ mark: Character) -> [String] {
  [
    "http://bob:s3cr\(mark)hush@host.example/a.png", "https://s3cr\(mark)hush:pw@host.example/a.png?x=1",
    "http://bob:\(mark)s3crhush@host.example", "http://bob:s3crhush\(mark)@host.example/a@2x.png",
    "http://bob:s3cr\(mark)\(mark)hush@host.example/", "bob:s3cr\(mark)hush@host.example/a.png",
    "ftp://bob:s3cr\(mark)hush@host.example/a.png",
  ]
}

@Suite struct RedactionPropertyTests {
  /// Whether `text` shows a part of the password.
  private func tells(_ text: String) -> Bool { text.contains("s3cr") || text.contains("hush") }

  @Test(arguments: punctuation)
  func `No character of a password makes it show`(mark: Character) throws {
    for url in addresses(mark) {
      // An address in which a slash ends the host is one of a host that is called like the user.
      guard !isHost(url) else { continue }
      #expect(!tells(Redaction.url(url)), "\(Redaction.url(url))")
      #expect(!tells(Redaction.message("It failed: \(url), they say.", about: [url])), "\(url)")
      #expect(!tells(SourceAddress(Redaction.url(url)).host))
      #expect(!tells(CacheText.redacted(url)))
    }
  }

  @Test(arguments: punctuation)
  func `No part of a report, a note or a gallery shows one`(mark: Character) throws {
    for url in addresses(mark) where !isHost(url) {
      var row = ManifestRow(index: 0, name: url, url: url)
      row.options.subtitle = url
      row.options.mirrors = [url]
      let planned = PlannedRow(
        entry: .row(row), name: OutputName(try NameTemplate("{stem}.{ext}")) { _ in SourceAddress(url).stem })
      var line = ReportLine(row, .failed(try #require(failure(url))))
      line.again = ReportLine.Again(planned, directory: "out")
      let card = GalleryCard(line, subtitle: planned.entry.subtitle, pictures: .embedded)
      // Without a scheme, nobody knows that the name is an address.
      let name = url.contains("://") ? url : nil
      let bad = ReportLine(BadRow(index: 0, line: 1, name: name, reason: "list, line 1: no URL."))
      for text in [String(decoding: line.json + card.html + bad.json, as: UTF8.self), line.note] {
        #expect(!tells(text), "\(text)")
      }
    }
  }

  /// What the library says of an address that cannot be fetched; another failure for one that can.
  private func failure(_ url: String) -> FetchFailure? {
    do throws(FetchFailure) {
      _ = try SourceURL(url)
      return FetchFailure(.connectFailed, "No connection to \(url)")
    } catch {
      return error
    }
  }

  /// Whether the library reads what looks like a user as the host itself.
  private func isHost(_ url: String) -> Bool {
    (try? SourceURL(url)).map { !$0.host.hasPrefix("host.example") } ?? false
  }

  @Test(
    "What is hidden, and what is not",
    arguments: [
      (#"http://bob:s3cr\et@host/a.png"#, "http://***@host/a.png"),
      ("http://bob:a/b@host/a.png", "http://***@host/a.png"),
      ("http://bob:a?b@host/a.png", "http://***@host/a.png"), ("http://bob:a#b@host/a.png", "http://***@host/a.png"),
      ("ftp://bob:a@host/x@2.png", "ftp://***@2.png"),
      ("http://host/a@2x.png?b=c@d#e@f", "http://host/a@2x.png?b=c@d#e@f"),
      ("mailto:joe@host", "***@host"),
    ])
  func url(url: String, expected: String) { #expect(Redaction.url(url) == expected) }
}
