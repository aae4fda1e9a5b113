import ArgumentParser
import Foundation
import ImageCache

/// The conditions of a command. A source must meet all of them.
struct FilterOptions: ParsableArguments {
  @Option(
    name: .customLong("filter"),
    help: ArgumentHelp(
      "Only sources with host=NAME, older-than=30d (unused for so long), larger-than=20k or state=fresh|stale|failed.",
      discussion: "Repeat for several conditions: all must hold.", valueName: "condition"),
    transform: { try SourceFilter($0) })
  var filters: [SourceFilter] = []

  /// Whether `source` meets all conditions at `now`.
  func matches(_ source: ListedSource, at now: Date) -> Bool {
    filters.allSatisfy { $0.matches(source, at: now) }
  }
}
