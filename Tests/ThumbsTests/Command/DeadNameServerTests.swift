import Foundation
import TestSupport
import Testing

/// Tests the system's resolver with a silent name server, inside mount and network namespaces of the test.
@Suite("Dead name servers", .timeLimit(.minutes(20))) struct DeadNameServerTests {
  private static let unshare = ["unshare", "--mount", "--net"]
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Servers/names.py").standardizedFileURL.path

  private static func run(_ arguments: [String], in directory: String = "/") async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory,
    ]
    process.standardError = FileHandle.nullDevice
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }

  private static func hasNamespaces() async -> Bool { (try? await run(unshare + ["true"])) == 0 }

  /// Fetches `urls`, and returns the failure codes of the report: none for a good row. The name server does not reply
  /// for the host names that it does not know before `good` images have been served.
  private static func codes(
    of urls: [String], good: Int, connectTimeout: String
  ) async throws -> (codes: [(url: String, code: String?)], status: Int32) {
    let directory = try TemporaryDirectory()
    let image = try directory.write(SampleImage.png(width: 40, height: 30), as: "image.png")
    _ = try directory.write(urls.joined(separator: "\n"), as: "list.txt")
    let arguments = [
      "fetch", "list.txt", "--no-cache", "-o", "out", "--retries", "0", "--connect-timeout", connectTimeout,
      "--timeout", "2400", "--progress", "none", "--report", "report.jsonl",
    ]
    let status = try await run(
      unshare + [script, image, "\(good)", RunningCommand.executable.path] + arguments, in: directory.path)
    let report = try String(contentsOfFile: directory.path("report.jsonl"), encoding: .utf8)
    let rows = try ReportedRow.inOrderOfCompletion(report)
    return (rows.map { ($0.url ?? "", $0.code) }, status)
  }

  /// Returns the URLs of `count` hosts in `domain`.
  private static func urls(_ count: Int, in domain: String) -> [String] {
    (0..<count).map { "http://a\($0).\(domain).test/a.png" }
  }

  @Test(.enabled("Creating namespaces is not permitted here.") { await hasNamespaces() })
  func `Rows whose host names cannot be resolved fail with their own code and delay no other row`() async throws {
    let good = (0..<600).map { "http://good.test/\($0).png" }
    let bad = Self.urls(20, in: "dead") + Self.urls(3, in: "sick") + ["http://gone.test/a.png"]

    let (rows, status) = try await Self.codes(
      of: bad + Self.urls(3, in: "late") + good, good: good.count + 3, connectTimeout: "2400")

    #expect(status == 75)
    #expect(rows.count == 627 && rows.count { $0.code == nil } == 603)
    // The name server replies for the dead names when the last good image has been served. At that time, some of the
    // good images are still being rendered.
    let dead = rows.enumerated().filter { $0.element.url.contains(".dead.") }
    #expect(dead.count == 20 && dead.allSatisfy { $0.element.code == "dns_temporary" && $0.offset > 400 })
    #expect(rows.filter { $0.code == "dns_temporary" }.count == 23)
    #expect(rows.filter { $0.code == "dns_not_found" }.map(\.url) == ["http://gone.test/a.png"])
  }

  @Test(.enabled("Creating namespaces is not permitted here.") { await hasNamespaces() })
  func `Rows whose name server never replies fail at the connect timeout`() async throws {
    let (rows, status) = try await Self.codes(of: Self.urls(20, in: "silent"), good: 1, connectTimeout: "1")

    #expect(status == 75)
    #expect(rows.count == 20 && rows.allSatisfy { $0.code == "dns_temporary" })
  }
}
