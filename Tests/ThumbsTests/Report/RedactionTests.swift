import Foundation
import Testing

@testable import BatchFetch
@testable import thumbs

private let punctuation = (0x20..<0x7F).compactMap { Unicode.Scalar($0) }.map(Character.init).filter {
  !$0.isLetter && !$0.isNumber
}

/// URLs with `mark` among the letters of the user or the password.
private func urls(_ mark: Character) -> [String] {
  [
    "http://bob:s3cr\(mark)hush@host.example/a.png", "https://s3cr\(mark)hush:pw@host.example/a.png?x=1",
    "http://bob:\(mark)s3crhush@host.example", "http://bob:s3crhush\(mark)@host.example/a@2x.png",
    "http://bob:s3cr\(mark)\(mark)hush@host.example/", "bob:s3cr\(mark)hush@host.example/a.png",
    "ftp://bob:s3cr\(mark)hush@host.example/a.png",
  ]
}

@Suite struct RedactionPropertyTests {
  /// Returns true if `text` contains a part of the password.
  private func leaks(_ text: String) -> Bool { text.contains("s3cr") || text.contains("hush") }

  @Test(arguments: punctuation)
  func `A password is hidden whatever character it contains`(mark: Character) throws {
    for url in urls(mark) {
      // If a slash ends the authority, the user is the host.
      guard !isHost(url) else { continue }

      #expect(!leaks(Redaction.url(url)), "\(Redaction.url(url))")
      #expect(!leaks(Redaction.message("It failed: \(url), they say.", about: [url])), "\(url)")
      #expect(!leaks(SourceURLParts(Redaction.url(url)).host))
      #expect(!leaks(CacheText.redacted(url)))
    }
  }

  @Test(arguments: punctuation)
  func `No report line, note or gallery card shows a password`(mark: Character) throws {
    for url in urls(mark) where !isHost(url) {
      var row = ManifestRow(index: 0, name: url, url: url)
      row.options.subtitle = url
      row.options.mirrors = [url]
      let planned = PlannedRow(
        entry: .row(row), name: OutputName(try NameTemplate("{stem}.{ext}")) { _ in SourceURLParts(url).stem })
      var line = ReportLine(row, .failed(try #require(failure(url))))
      line.again = ReportLine.Again(planned, directory: "out")
      let card = GalleryCard(line, subtitle: planned.entry.subtitle, images: .embedded)
      // Without a scheme, a name is not recognized as a URL.
      let name = url.contains("://") ? url : nil
      let bad = ReportLine(BadRow(index: 0, line: 1, name: name, reason: "list, line 1: no URL."))
      for text in [String(decoding: line.json + card.json + bad.json, as: UTF8.self), line.note] {
        #expect(!leaks(text), "\(text)")
      }
    }
  }

  /// Returns the failure of the library for an invalid URL, or a connection failure for a valid one.
  private func failure(_ url: String) -> FetchFailure? {
    do throws(FetchFailure) {
      _ = try SourceURL(url)
      return FetchFailure(.connectFailed, "No connection to \(url)")
    } catch {
      return error
    }
  }

  /// Returns true if the library parses the user as the host.
  private func isHost(_ url: String) -> Bool {
    (try? SourceURL(url)).map { !$0.host.hasPrefix("host.example") } ?? false
  }

  @Test(
    arguments: [
      (#"http://bob:s3cr\et@host/a.png"#, "http://***@host/a.png"),
      ("http://bob:a/b@host/a.png", "http://***@host/a.png"),
      ("http://bob:a?b@host/a.png", "http://***@host/a.png"), ("http://bob:a#b@host/a.png", "http://***@host/a.png"),
      ("ftp://bob:a@host/x@2.png", "ftp://***@2.png"),
      ("http://host/a@2x.png?b=c@d#e@f", "http://host/a@2x.png?b=c@d#e@f"),
      ("mailto:joe@host", "***@host"),
    ])
  func `The user information of a valid URL is hidden, and everything up to the last @ of an invalid one`(
    url: String, expected: String
  ) {
    #expect(Redaction.url(url) == expected)
  }
}
