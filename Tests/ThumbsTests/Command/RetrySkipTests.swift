import Foundation
import TestSupport
import Testing

/// Rows of a report that a retry cannot request, because a report contains no secrets.
@Suite("thumbs retry: skipped rows", .timeLimit(.minutes(20))) struct RetrySkipTests {
  /// A row that needs more than its report contains.
  enum Need: CaseIterable {
    /// Its own header field.
    case field
    /// The user and the password in its URL.
    case credentials

    var advice: String {
      switch self {
      case .field: "the row's header field x-key; give it with --header"
      case .credentials: "the credentials of the URL; run thumbs fetch with the manifest again"
      }
    }
  }

  /// Returns a fixture whose report has a temporary failure of a row with `need`.
  private func failed(_ need: Need, _ isHealthy: Gate) async throws -> CommandFixture {
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon() : .http(503) }
    var url = fixture.server.url("/a.png")
    if need == .credentials { url = url.replacingOccurrences(of: "://", with: "://me:secret@") }
    let row = need == .field ? ["url": url, "headers": "X-Key: secret"] : ["url": url]
    _ = try fixture.directory.write(Array(JSONSerialization.data(withJSONObject: [row])), as: "list.json")
    #expect(try await fixture.fetch("list.json").ending == .exit(75))
    return fixture
  }

  @Test(arguments: Need.allCases)
  func `A row whose secrets are not in the report keeps its line, and is worth a retry`(need: Need) async throws {
    let isHealthy = Gate()
    let fixture = try await failed(need, isHealthy)
    let (report, requests) = (try fixture.text("report.jsonl"), fixture.server.requests.count)
    isHealthy.open()

    let result = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache, "--progress", "none")

    #expect(result.ending == .exit(75))
    let reason = "the report does not contain \(need.advice)."
    #expect(result.errors.hasPrefix("thumbs: Nothing to retry: 0 rows are done. 1 row is skipped: \(reason)\n"))
    #expect(result.errors.contains("1 item: 0 ok, 0 failed, 1 skipped in "))
    #expect(try fixture.text("report.jsonl") == report)
    #expect(fixture.server.requests.count == requests)
  }

  @Test func `A skipped row is no failure in the progress and in the gallery`() async throws {
    let fixture = try await failed(.field, Gate())

    let result = try await fixture.run(
      "retry", "report.jsonl", "--cache-dir", fixture.cache, "--progress", "json", "--gallery", "page.html")

    #expect(result.ending == .exit(75))
    let progress = result.errorLines.filter { $0.hasPrefix("{") }
    #expect(progress.last?.hasPrefix(#"{"finished":1,"total":1,"failed":0,"#) == true, "\(result.errors)")
    let page = try fixture.text("page.html")
    #expect(page.contains(#""s":"cancelled""#) && page.contains(#""c":"skipped""#))
    #expect(!page.contains("bad_row"))
  }

  @Test(arguments: [["-q"], ["-n"], ["-nq"]])
  func `A quiet retry and a dry run mention a skipped row once, and exit with 75`(options: [String]) async throws {
    let fixture = try await failed(.field, Gate())

    let result = try await fixture.start(["retry", "report.jsonl", "--cache-dir", fixture.cache] + options).result()

    #expect(result.ending == .exit(75) && result.output.isEmpty)
    let skip = "1 row is skipped: the report does not contain \(Need.field.advice)."
    let introduction = options == ["-n"] ? "Nothing to retry: 0 rows are done. " : ""
    #expect(result.errors == "thumbs: \(introduction)\(skip)\n")
  }

  @Test func `With --report, the other report has the old line, from which a later retry succeeds`() async throws {
    let isHealthy = Gate()
    let fixture = try await failed(.field, isHealthy)
    isHealthy.open()

    let skipped = try await fixture.run(
      "retry", "report.jsonl", "--cache-dir", fixture.cache, "--report", "second.jsonl", "--summary", "summary.json")

    #expect(skipped.ending == .exit(75))
    let (old, new) = try (fixture.text("report.jsonl"), fixture.text("second.jsonl"))
    #expect(new.split(separator: "\n").first == old.split(separator: "\n").first)
    #expect((try fixture.object("summary.json")["items"] as? [String: Int])?["skipped"] == 1)
    let retried = try await fixture.run(
      "retry", "second.jsonl", "--cache-dir", fixture.cache, "-H", "X-Key: secret", "--progress", "none")
    #expect(retried.ending == .exit(0))
    #expect(try ReportedRow.all(in: fixture.text("second.jsonl")).map(\.status) == ["ok"])
    #expect(try fixture.outputs() == ["a.png"])
  }
}
