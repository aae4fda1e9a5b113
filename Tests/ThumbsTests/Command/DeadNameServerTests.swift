import Foundation
import TestSupport
import Testing

/// The system's own resolver, and a name server that says nothing: both in namespaces that the test has for itself.
@Suite("Dead name servers", .timeLimit(.minutes(5))) struct DeadNameServerTests {
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

  @Test(.enabled("Namespaces of one's own are not permitted here.") { await hasNamespaces() })
  func `Rows whose names nobody answers for hold up no other row, and say so`() async throws {
    let directory = try TemporaryDirectory()
    let picture = try directory.write(SampleImage.png(width: 40, height: 30), as: "picture.png")
    let dead = (0..<20).map { "http://dead\($0).test/a.png" }
    let good = (0..<200).map { "http://good.test/\($0).png" }
    _ = try directory.write((dead + ["http://gone.test/a.png"] + good).joined(separator: "\n"), as: "list.txt")
    let arguments = [
      "fetch", "list.txt", "--no-cache", "-o", "out", "--retries", "0", "--connect-timeout", "60", "--timeout", "600",
      "--progress", "none", "--report", "report.jsonl",
    ]
    let status = try await Self.run(
      Self.unshare + [Self.script, picture, "\(good.count)", RunningCommand.executable.path] + arguments,
      in: directory.path)
    #expect(status == 75)
    // In the order in which they ended.
    let report = try String(contentsOfFile: directory.path("report.jsonl"), encoding: .utf8)
    let codes = try report.split(separator: "\n").map { try ReportedRow($0).code ?? "" }
    #expect(codes.count == 221 && codes.filter(\.isEmpty).count == 200)
    // The name server speaks of the dead ones when the last good one is served; some of those are still rendered then.
    #expect(codes.filter { $0 == "dns_temporary" }.count == 20 && !codes.prefix(100).contains("dns_temporary"))
    #expect(codes.filter { $0 == "dns_not_found" }.count == 1)
  }
}
