import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache verify`: finds and repairs damage.
struct CacheVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the cache for damage.",
    discussion: """
      Exits with 1 if there is damage, or if any remains after --repair. Damaged entries are never served.

      Examples:
        thumbs cache verify
        thumbs cache verify --repair
      """)

  @OptionGroup var cache: CacheOptions
  @Flag(help: "Check only the records and the structure of the database, not the thumbnails.") var quick = false
  @Flag(help: "Remove damaged entries; reset the cache if its database is corrupt or unreadable.") var repair = false
  @Flag(
    name: [.customShort("n"), .long], help: "With --repair: show the problems that would be repaired; change nothing.")
  var dryRun = false
  @OptionGroup var formats: CacheFormatOptions

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      do {
        try check(directory)
      } catch let error as DiskCacheError where repair && !dryRun && [.corrupt, .io].contains(error.code) {
        printToStandardError("thumbs cache: \(error.message)")
        try reset(directory, after: error)
        try checkAgain(directory)
      }
    }
  }

  /// Empties a cache whose database cannot be read. An I/O error may pass, so the cache is emptied only if it stays.
  private func reset(_ directory: String, after error: DiskCacheError) throws {
    switch error.code {
    case .corrupt: try CacheMaintenance.clear(directory: directory)
    default: _ = try CacheMaintenance.clearIfUnreadable(directory: directory)
    }
  }

  private func check(_ directory: String) throws {
    var problems: [CacheProblem] = []
    let result = try CacheInspector(directory: directory).verify(depth) { problem in
      try printProblem(problem, isFirst: problems.isEmpty)
      // The check after the repair finds any further problems.
      if problems.count < 10_000 { problems.append(problem) }
    }
    try printSummary(result, isFirst: problems.isEmpty)
    if problems.isEmpty { return }
    if repair, dryRun {
      printToStandardError("Would repair \(problems.count == 1 ? "1 problem" : "\(problems.count) problems").")
    }
    guard repair, !dryRun else { throw ExitCode(1) }
    try CacheMaintenance.repair(problems, directory: directory)
    try checkAgain(directory)
  }

  private var depth: CacheInspector.VerificationDepth { quick ? .quick : .full }

  /// Verifies the cache again after a repair.
  private func checkAgain(_ directory: String) throws {
    let left = try CacheInspector(directory: directory).verify(depth) { _ in }.problems
    printToStandardError(left == 0 ? "Repaired." : "\(left) problems remain.")
    if left > 0 { throw ExitCode(1) }
  }

  private func printProblem(_ problem: CacheProblem, isFirst: Bool) throws {
    let key = problem.key?.description
    switch formats.chosen {
    case .table: print("PROBLEM \(problem.code.rawValue) \(key ?? "-") \(CacheText.field(problem.detail))")
    case .tsv: print([problem.code.rawValue, key ?? "", CacheText.field(problem.detail)].joined(separator: "\t"))
    case .jsonl: print(try CacheText.json(Record(problem)))
    case .json: print(isFirst ? "[" : ",", try CacheText.json(Record(problem)), separator: "\n", terminator: "")
    }
  }

  private func printSummary(_ result: CacheVerification, isFirst: Bool) throws {
    switch formats.chosen {
    case .table:
      print(
        """
        \(CacheText.sources(result.sources)), \(result.thumbnails) thumbnails (\(CacheText.size(result.bytes))) whole, \
        \(result.outdated) outdated; \(result.problems) problems
        """)
    case .jsonl: print(try CacheText.json(Summary(result)))
    case .json: print(isFirst ? "[" : ",", try CacheText.json(Summary(result)), "]", separator: "\n")
    case .tsv: break
    }
  }

  /// One problem, marked by its `type`.
  private struct Record: Encodable {
    let type = "problem"
    let code, detail: String
    let key: String?

    init(_ problem: CacheProblem) {
      (code, detail, key) = (problem.code.rawValue, problem.detail, problem.key?.description)
    }
  }

  /// The summary after all problems.
  private struct Summary: Encodable {
    let type = "summary"
    let sources, thumbnails, bytes, outdated, problems: Int

    init(_ result: CacheVerification) {
      (sources, thumbnails, bytes) = (result.sources, result.thumbnails, result.bytes)
      (outdated, problems) = (result.outdated, result.problems)
    }
  }
}
