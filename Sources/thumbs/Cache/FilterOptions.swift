import ArgumentParser
import Foundation
import ImageCache

/// The filters of a command. A source must match all of them.
struct FilterOptions: ParsableArguments {
  @Option(
    name: .customLong("filter"),
    help: ArgumentHelp(
      "Select sources by host=NAME, older-than=30d (since last use), larger-than=20k or state=fresh|stale|failed.",
      discussion: "Repeat to select sources that match all filters.", valueName: "condition"),
    transform: { try SourceFilter($0) })
  var filters: [SourceFilter] = []

  /// Returns true if `source` matches all filters at `now`.
  func matches(_ source: ListedSource, at now: Date) -> Bool {
    filters.allSatisfy { $0.matches(source, at: now) }
  }
}
