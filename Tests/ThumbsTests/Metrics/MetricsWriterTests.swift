import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite struct MetricsWriterTests {
  private let directory: TemporaryDirectory
  private let stopwatch = Stopwatch()
  private let writer: MetricsWriter

  init() throws {
    directory = try TemporaryDirectory()
    writer = try MetricsWriter(
      NamedFile(path: directory.path("run.prom")), start: Date(timeIntervalSince1970: 1_700_000_000),
      workplace: directory.path, elapsed: { [stopwatch] in stopwatch.elapsed })
  }

  private func value(_ name: String) throws -> String? {
    let text = try String(contentsOfFile: directory.path("run.prom"), encoding: .utf8)
    return text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.count + 1)) }
  }

  @Test func `The file is written at the start, every ten seconds, and at the end`() throws {
    var updates: [Int] = []
    for second in 0...25 {
      stopwatch.move(to: second)
      try writer.tick { updates.append(second) }
    }
    #expect(updates == [0, 10, 20])
    #expect(try value("thumbs_run_finished") == "0" && value("thumbs_run_exit_code") == "-1")

    try writer.finish(75) { updates.append(26) }
    #expect(updates.last == 26)
    #expect(try value("thumbs_run_finished") == "1" && value("thumbs_run_exit_code") == "75")
    #expect(try value("thumbs_run_start_time_seconds") == "1700000000")
    #expect(try directory.files() == ["run.prom"])
  }

  @Test func `A reader that has the file open keeps the version that it opened`() throws {
    try writer.tick {}
    let reader = try #require(FileHandle(forReadingAtPath: directory.path("run.prom")))
    try writer.finish(0) {}

    #expect(String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self).contains("thumbs_run_finished 0\n"))
    #expect(try value("thumbs_run_finished") == "1")
  }
}
