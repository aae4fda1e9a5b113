import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache verify`: looks for damage.
struct CacheVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Look for damage in the cache.",
    discussion: "Exits with 1 if there is any that was not repaired. Damage is never served: it reads as missing.")

  @OptionGroup var cache: CacheOptions
  @Flag(help: "Check descriptions and the database's structure only, not the pictures.") var quick = false
  @Flag(help: "Remove what is damaged; empty a cache whose database is.") var repair = false
  @Option(help: "table, json, jsonl or tsv.") var format = CacheOutputFormat.table

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      var problems: [CacheProblem] = []
      let result = try CacheInspector(directory: directory).verify(quick ? .quick : .full) { problem in
        try printProblem(problem, isFirst: problems.isEmpty)
        // A cache that has more than these is better emptied.
        if problems.count < 10_000 { problems.append(problem) }
      }
      try printSummary(result, isFirst: problems.isEmpty)
      if problems.isEmpty { return }
      guard repair else { throw ExitCode(1) }
      try Self.repair(problems, directory: directory)
    }
  }

  private static func repair(_ problems: [CacheProblem], directory: String) throws {
    let keys = problems.compactMap(\.key)
    if keys.count == problems.count {
      try CacheMaintenance.remove(keys, directory: directory)
    } else {
      try CacheMaintenance.clear(directory: directory)
    }
  }

  private func printProblem(_ problem: CacheProblem, isFirst: Bool) throws {
    let key = problem.key?.description
    switch format {
    case .table: print("PROBLEM \(problem.code.rawValue) \(key ?? "-") \(CacheText.field(problem.detail))")
    case .tsv: print([problem.code.rawValue, key ?? "", CacheText.field(problem.detail)].joined(separator: "\t"))
    case .jsonl: print(try CacheText.json(Record(problem)))
    case .json: print(isFirst ? "[" : ",", try CacheText.json(Record(problem)), separator: "\n", terminator: "")
    }
  }

  private func printSummary(_ result: CacheVerification, isFirst: Bool) throws {
    switch format {
    case .table:
      print(
        """
        \(result.sources) sources, \(result.thumbnails) thumbnails (\(CacheText.size(result.bytes))) whole, \
        \(result.outdated) outdated; \(result.problems) problems
        """)
    case .jsonl: print(try CacheText.json(Summary(result)))
    case .json: print(isFirst ? "[" : ",", try CacheText.json(Summary(result)), "]", separator: "\n")
    case .tsv: break
    }
  }

  /// One problem, told by `type`.
  private struct Record: Encodable {
    let type = "problem"
    let code, detail: String
    let key: String?

    init(_ problem: CacheProblem) {
      (code, detail, key) = (problem.code.rawValue, problem.detail, problem.key?.description)
    }
  }

  /// The last line.
  private struct Summary: Encodable {
    let type = "summary"
    let sources, thumbnails, bytes, outdated, problems: Int

    init(_ result: CacheVerification) {
      (sources, thumbnails, bytes) = (result.sources, result.thumbnails, result.bytes)
      (outdated, problems) = (result.outdated, result.problems)
    }
  }
}
