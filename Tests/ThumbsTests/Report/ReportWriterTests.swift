import Foundation
import Glibc
import TestSupport
import Testing

@testable import thumbs

@Suite struct ReportWriterTests {
  @Test func `The old report is discarded when the run begins, and each line is in the file as soon as it is written`()
    throws
  {
    let root = try TemporaryDirectory()
    let path = try root.write("old\n", as: "report.jsonl")
    let writer = ReportWriter(try NamedFile(path: path))

    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old\n")

    writer.begin()
    for count in 1...3 {
      try writer.append(ReportLine.sample(.sample()), position: 0)
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == count)
      #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) != nil })
    }

    try writer.finish(.complete)
    let end = #"{"complete":true,"items":3}"#
    #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst(3) == [end[...]])

    try writer.finish(.partial(rows: 3))
    #expect(
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").last?.contains("\"items\":3") == true)
  }

  @Test func `After a closed pipe, every write throws the same error`() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    let writer = ReportWriter(NamedFile(descriptor: ends[1], name: "standard output"))

    for _ in 0..<2 {
      let error = #expect(throws: OutputError.self) { try writer.append(ReportLine.sample(.sample()), position: 0) }
      #expect(error?.isBrokenPipe == true)
      #expect(error?.description == "Cannot write standard output: Broken pipe.")
    }
  }

  @Test func `A full disk is a fatal error`() throws {
    let writer = ReportWriter(try NamedFile(path: "/dev/full"))

    let error = #expect(throws: OutputError.self) { try writer.append(ReportLine.sample(.sample()), position: 0) }
    #expect(error?.isFatal == true)
  }

  @Test func `A report that cannot be created is an error that names the file`() throws {
    let error = #expect(throws: OutputError.self) { try NamedFile(path: "/nowhere/report.jsonl") }

    #expect(error?.description == "Cannot create /nowhere/report.jsonl: No such file or directory.")
  }
}
