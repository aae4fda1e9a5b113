import Foundation
import TestSupport
import Testing

/// Tests the system's resolver with a silent name server, inside mount and network namespaces of the test.
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

  @Test(.enabled("Creating namespaces is not permitted here.") { await hasNamespaces() })
  func `Rows whose host names cannot be resolved fail with their own code and delay no other row`() async throws {
    let directory = try TemporaryDirectory()
    let image = try directory.write(SampleImage.png(width: 40, height: 30), as: "image.png")
    let dead = (0..<20).map { "http://dead\($0).test/a.png" }
    let good = (0..<200).map { "http://good.test/\($0).png" }
    _ = try directory.write((dead + ["http://gone.test/a.png"] + good).joined(separator: "\n"), as: "list.txt")
    let arguments = [
      "fetch", "list.txt", "--no-cache", "-o", "out", "--retries", "0", "--connect-timeout", "60", "--timeout", "600",
      "--progress", "none", "--report", "report.jsonl",
    ]

    let status = try await Self.run(
      Self.unshare + [Self.script, image, "\(good.count)", RunningCommand.executable.path] + arguments,
      in: directory.path)

    #expect(status == 75)

    // The lines are in the order of completion.
    let report = try String(contentsOfFile: directory.path("report.jsonl"), encoding: .utf8)
    let codes = try report.split(separator: "\n").map { try ReportedRow($0).code ?? "" }

    #expect(codes.count == 221 && codes.filter(\.isEmpty).count == 200)
    // The name server responds for the dead names when the last good image has been served. At that time, some of the
    // good images are still being rendered.
    #expect(codes.filter { $0 == "dns_temporary" }.count == 20 && !codes.prefix(100).contains("dns_temporary"))
    #expect(codes.filter { $0 == "dns_not_found" }.count == 1)
  }
}
