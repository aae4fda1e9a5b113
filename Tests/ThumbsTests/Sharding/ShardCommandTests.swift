import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite("thumbs fetch --shard", .timeLimit(.minutes(20))) struct ShardCommandTests {
  /// A list in which two URLs have the same stem, so that names depend on earlier rows, and one row is bad.
  private func fixture() throws -> CommandFixture {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let rows = (0..<40).map { #"{"url":"\#(fixture.server.url("/\($0)/\($0 % 25).png"))"}"# } + [#"{"name":"none"}"#]
    _ = try fixture.directory.write(rows.map { $0 + "\n" }.joined(), as: "list.jsonl")
    return fixture
  }

  private func run(_ fixture: CommandFixture, _ options: [String], report: String) async throws -> [ReportedRow] {
    let arguments = fixture.fetchArguments(["list.jsonl"] + options, report: report)
    let result = try await fixture.start(arguments).result()
    #expect([.exit(0), .exit(1)].contains(result.ending), "\(result.errors)")
    let lines = try fixture.text(report).split(separator: "\n").filter { !$0.hasPrefix(#"{"complete":true,"#) }
    return try lines.map { try ReportedRow($0) }
  }

  @Test(arguments: ["host", "url", "row"])
  func `The shards have each row once, with the index and the files of a run without shards`(
    key: String
  ) async throws {
    let fixture = try fixture()
    let whole = try await run(fixture, [], report: "whole.jsonl")
    var rows: [ReportedRow] = []
    for number in 1...3 {
      rows += try await run(fixture, ["--shard", "\(number)/3", "--shard-by", key], report: "\(number).jsonl")
    }

    #expect(rows.map(\.index).sorted() == Array(0...40))
    let paths = Dictionary(uniqueKeysWithValues: whole.map { ($0.index, $0.paths) })
    #expect(rows.allSatisfy { $0.paths == paths[$0.index] })
    #expect(fixture.requestCounts.values.allSatisfy { $0 == 1 })
  }

  @Test func `The report of a shard ends with the shard and the number of all rows`() async throws {
    let fixture = try fixture()
    _ = try await run(fixture, ["--shard", "2/3", "--shard-by", "url"], report: "2.jsonl")

    let last = try #require(fixture.text("2.jsonl").split(separator: "\n").last)
    let digest = try digest(ofLines: fixture.text("list.jsonl").split(separator: "\n"))
    let items = try ReportedRow.all(in: fixture.text("2.jsonl")).count
    let start = #"{"complete":true,"rows":41,"list":"\#(digest)","shard":"2/3","by":"url""#
    #expect(last == "\(start),\"items\":\(items)}")
    #expect(try await fixture.run("report", "summary", "2.jsonl").ending == .exit(0))
    #expect(try await fixture.run("retry", "--all-failed", "2.jsonl").ending == .exit(0))
    #expect(try fixture.text("2.jsonl").contains(last))
  }

  private func digest(ofLines lines: [Substring]) throws -> ListDigest {
    var digest = ListDigest()
    for (index, line) in lines.enumerated() {
      let columns = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
      let row = columns?["url"].map { ManifestEntry.row(ManifestRow(index: index, url: $0)) }
      digest.add(row ?? .bad(BadRow(index: index, reason: "no URL")))
    }
    return digest
  }

  @Test func `A dry run prints the files of the shard only`() async throws {
    let fixture = try fixture()
    var lines: [Substring] = []
    for number in 1...4 {
      let result = try await fixture.run("fetch", "-n", "list.jsonl", "--shard", "\(number)/4", "--shard-by", "row")
      lines += result.output.split(separator: "\n")
    }
    let whole = try await fixture.run("fetch", "-n", "list.jsonl").output.split(separator: "\n")

    #expect(lines.sorted() == whole.sorted() && lines.count == 40)
  }

  @Test func `A scheduler that is not there is a usage error, and one that is chooses the shard`() async throws {
    let fixture = try fixture()
    let arguments = ["fetch", "-n", "list.jsonl", "--shard", "auto", "--shard-by", "row"]
    let without = try await fixture.start(arguments).result()
    let with = try await fixture.start(arguments, environment: ["PARALLEL_SEQ": "2", "THUMBS_SHARDS": "4"]).result()
    let second = try await fixture.run("fetch", "-n", "list.jsonl", "--shard", "2/4", "--shard-by", "row")

    #expect(without.ending == .exit(64) && without.errors.hasPrefix("Error: --shard auto: none of SLURM_ARRAY_TASK_ID"))
    #expect(with.output == second.output && !with.output.isEmpty)
  }
}
