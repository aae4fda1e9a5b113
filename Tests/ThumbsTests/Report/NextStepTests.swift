import Testing

@testable import BatchFetch
@testable import thumbs

@Suite struct NextStepTests {
  @Test(
    arguments: [
      ([], "r.jsonl", nil), ([.http(404)], "-", nil),
      ([.http(404)], "r.jsonl", "  next: thumbs report failed r.jsonl"),
      ([.http(404), .http(503)], "r.jsonl", "  next: thumbs retry r.jsonl"),
      ([.cancelled], "it's a report", #"  next: thumbs retry 'it'\''s a report'"#),
      ([.timeoutTotal], "-r", "  next: thumbs retry '-r'"),
      ([.tls], nil, "  next: add --report r.jsonl to keep the failures for thumbs report and thumbs retry"),
    ] as [([FailureCode], String?, String?)])
  func `The advice depends on the failures and the report`(codes: [FailureCode], report: String?, expected: String?) {
    var summary = Totals()
    for code in codes {
      summary.count(ReportLine(ManifestRow(index: 0, url: "u"), .failed(FetchFailure(code, ""))))
    }
    #expect(NextStep.advice(about: summary, report: report) == expected)
  }

  @Test(
    arguments: [(.http(503), "retry --fallback 'no image.png'"), (.http(404), "report failed")]
      as [(FailureCode, String)])
  func `The advice to retry repeats --fallback`(code: FailureCode, command: String) {
    var summary = Totals()
    summary.count(ReportLine(ManifestRow(index: 0, url: "u"), .failed(FetchFailure(code, ""))))

    let advice = NextStep.advice(about: summary, report: "r.jsonl", fallback: "no image.png")

    #expect(advice == "  next: thumbs \(command) r.jsonl")
  }
}
