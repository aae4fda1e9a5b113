import Foundation
import TestSupport
import Testing

/// A process that may not have as much memory as one of its images takes.
@Suite("thumbs fetch: no memory left", .timeLimit(.minutes(5))) struct MemoryLimitTests {
  /// 14 GB of pixels, and 8 GB of address space, most of which a process needs only on paper.
  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer needs more address space than there may be"))
  func `An image without memory fails alone, and the others are done`() async throws {
    let fixture = try CommandFixture {
      $0.target == "/huge.png" ? .http(200, [:], SampleImage.pngHeader(width: 70_000, height: 70_000)) : .icon()
    }
    let goods = (0..<30).map { "/good\($0).png" }
    let list = try fixture.list(Array(goods.prefix(15) + ["/huge.png"] + goods.suffix(15)))
    let arguments = fixture.fetchArguments([list, "--max-pixels", "5000M"])
    let result = try await fixture.start(arguments, setup: "ulimit -v \(8 << 20)").result()
    #expect(result.ending == .exit(75), "\(result.errors)")
    let report = try fixture.report()
    #expect(report.filter { $0.status == "ok" }.count == goods.count)
    #expect(report.filter { $0.status != "ok" }.map(\.code) == ["out_of_memory"])
    #expect(report.first { $0.code == "out_of_memory" }?.retryable == true)
  }
}
