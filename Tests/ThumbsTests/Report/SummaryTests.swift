import ArgumentParser
import Testing

@testable import BatchFetch
@testable import thumbs

@Suite struct SummaryTests {
  private func summary(_ codes: [FailureCode], done: Int = 0) -> Totals {
    var summary = Totals()
    let row = ManifestRow(index: 0, line: nil, name: nil, url: "u")
    for code in codes { summary.count(ReportLine(row, .failed(FetchFailure(code, "")))) }
    for _ in 0..<done { summary.count(ReportLine.sample(.sample())) }
    return summary
  }

  @Test(
    arguments: [
      ([], 0), ([.cancelled], 0), ([.http(404)], 1), ([.timeoutTotal], 75), ([.http(404), .http(503), .badURL], 75),
    ] as [([FailureCode], Int32)])
  func `The exit code is 75 if a failure is worth retrying, and 1 for other failures`(
    codes: [FailureCode], expected: Int32
  ) {
    #expect(summary(codes, done: 1).exitCode == expected)
  }

  @Test func `The text counts origins and failure codes, most frequent first`() {
    let text = summary([.http(404), .tls, .http(404), .stalled, .cancelled], done: 2).text(
      after: .milliseconds(1250), downloaded: ByteSize(count: 288_666))

    #expect(
      text == """
        7 items: 2 ok, 4 failed, 1 canceled in 1.3 s; 281.9 KiB downloaded
          ok: 2 network
          failed: 2 http_404, 1 stalled*, 1 tls
          (* worth retrying)
        """)
  }

  private func row(_ host: String, _ outcome: ReportLine.RowOutcome) -> ReportLine {
    ReportLine(ManifestRow(index: 0, line: nil, name: nil, url: "http://\(host)/a.png"), outcome)
  }

  /// A summary with a slow host, a failing host and an image from the cache.
  private var mixed: Totals {
    var summary = Totals()
    var slow = ThumbnailSet.sample()
    slow.timings.download = .milliseconds(300)
    summary.count(row("slow", .done(slow, [])))
    slow.timings.download = .milliseconds(500)
    summary.count(row("slow", .done(slow, [])))
    var kept = ReportLine.Output(ThumbnailSet.sample().thumbnails[0], path: "a.jpg")
    kept.outcome = .unchanged
    summary.count(row("bad", .done(.sample(origin: .disk), [kept])))
    summary.count(row("bad", .failed(FetchFailure(.http(503), ""))))
    summary.count(row("bad", .failed(.cancelled)))
    return summary
  }

  @Test func `With several hosts, the text lists slow and failing ones, and the bytes saved by the cache`() {
    #expect(
      mixed.text(after: .seconds(2), downloaded: ByteSize(count: 0)) == """
        5 items: 3 ok, 1 failed, 1 canceled in 2.0 s; 0 B downloaded
          ok: 2 network, 1 disk
          failed: 1 http_503*
          (* worth retrying)
          saved by the cache: 140.9 KiB
          slowest hosts: slow 0.4 s
          most failures: bad 1 of 2
        """)
  }

  @Test func `The JSON summary has the documented members in the documented order`() {
    let hosts = (
      slow: #"{"host":"slow","downloads":2,"mean":400,"items":2,"failed":0}"#,
      bad: #"{"host":"bad","downloads":0,"mean":0,"items":2,"failed":1}"#
    )
    let expected =
      #"{"version":1,"exit":75,"complete":true,"limit":null,"elapsed":2000,"#
      + #""items":{"total":5,"ok":3,"failed":1,"cancelled":1,"skipped":0},"#
      + #""files":{"written":0,"unchanged":1},"bytes":{"downloaded":7,"saved":144308},"remoteCache":null,"#
      + #""origins":[{"origin":"network","items":2},{"origin":"disk","items":1}],"#
      + #""failures":[{"code":"http_503","items":1,"retryable":true}],"#
      + #""hosts":{"count":2,"unlistedItems":0,"slowest":[\#(hosts.slow)],"failing":[\#(hosts.bad)]}}"# + "\n"
    let json = mixed.json(.finished(mixed), .complete, after: .seconds(2), downloaded: ByteSize(count: 7))

    #expect(String(decoding: json, as: UTF8.self) == expected)
  }

  @Test func `A skipped row is worth a retry, and is no failure`() {
    var summary = summary([.http(404)], done: 1)
    summary.count(ReportLine(BadRow(index: 2, line: 3, name: nil, reason: "No."), kept: []))

    #expect(summary.exitCode == 75 && summary.total == 3 && summary.failedCount == 1)
    #expect(
      summary.text(after: .seconds(1), downloaded: ByteSize(count: 0)) == """
        3 items: 1 ok, 1 failed, 1 skipped in 1.0 s; 0 B downloaded
          ok: 1 network
          failed: 1 http_404
        """)
  }

  @Test func `The limit that ended the run is in both summaries, and gives the exit code 75`() throws {
    let limit = RunLimit.time(.seconds(60))
    let ending = RunEnding(signal: nil, output: nil, manifest: nil, limit: limit, summary([.cancelled]))
    let json = summary([.cancelled]).json(ending, .complete, after: .seconds(60), downloaded: ByteSize(count: 0))

    #expect(ending.exitCode.rawValue == 75 && ending.message == nil)
    let start = #"{"version":1,"exit":75,"complete":true,"limit":"max-run-time","#
    #expect(String(decoding: json, as: UTF8.self).hasPrefix(start))
    #expect(
      summary([.cancelled]).text(limit: limit, after: .seconds(60), downloaded: ByteSize(count: 0)) == """
        1 item: 0 ok, 0 failed, 1 canceled in 60.0 s; 0 B downloaded
          stopped at the limit of 60 s (--max-run-time)
        """)
  }

  @Test func `A signal, an output error and a manifest error take precedence over a limit`() {
    let (limit, manifest) = (RunLimit.time(.seconds(1)), InputError("list", "is empty"))
    let output = OutputError(action: .write, path: "r", code: 28)
    let codes = [
      RunEnding(signal: 2, output: output, manifest: manifest, limit: limit, summary([])),
      RunEnding(signal: nil, output: output, manifest: manifest, limit: limit, summary([])),
      RunEnding(signal: nil, output: nil, manifest: manifest, limit: limit, summary([])),
      RunEnding(signal: nil, output: nil, manifest: nil, limit: limit, summary([.http(404)])),
    ].map(\.exitCode.rawValue)

    #expect(codes == [130, 74, 65, 75])
  }

  @Test func `Hosts beyond the limit are counted but not listed`() {
    var tally = HostTally()
    for number in 0..<(HostTally.limit + 5) {
      tally.count(ReportRow(row("h\(number)", .failed(FetchFailure(.tls, "")))))
    }
    tally.count(ReportRow(row("h0", .failed(FetchFailure(.tls, "")))))

    #expect(tally.hosts.count == HostTally.limit && tally.unlistedRows == 5)
    #expect(tally.mostFailing(1).map(\.name) == ["h0"])
  }
}
