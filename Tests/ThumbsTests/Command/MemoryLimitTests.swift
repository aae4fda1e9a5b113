import Foundation
import TestSupport
import Testing

/// Runs the command with less memory than one of its images needs.
@Suite("thumbs fetch: out of memory", .timeLimit(.minutes(20))) struct MemoryLimitTests {
  private static let huge = SampleImage.pngHeader(width: 70_000, height: 70_000, isInterlaced: true)

  /// The image needs 14 GB for its pixels. The limit is 8 GB of address space, most of which is reserved but not used.
  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer needs more address space than the limit"))
  func `An image that does not fit in memory fails without affecting other rows`() async throws {
    let fixture = try CommandFixture {
      $0.target == "/huge.png" ? .http(200, [:], Self.huge) : .icon()
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
