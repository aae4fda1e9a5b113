import ArgumentParser
import Foundation
import ImageCache

/// A filter for sources: `host=example.org`, `older-than=30d`, `larger-than=20k` or `state=stale`.
enum SourceFilter: Hashable, Sendable {
  /// The URL has this host.
  case host(String)
  /// The source was last used more than this many seconds ago.
  case olderThan(Int)
  /// The source takes more than this many bytes in the cache.
  case largerThan(Int)
  /// The source is in this state: fresh, stale or failed.
  case state(ListedSource.State)

  /// Parses a filter.
  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count == 2 ? parts[1] : "") {
    case ("host", let host) where !host.isEmpty: self = .host(host.lowercased())
    case ("older-than", let age): self = .olderThan(try Self.seconds(age))
    case ("larger-than", let size): self = .largerThan(try ByteSize(size).count)
    case ("state", let state):
      guard let state = ListedSource.State(rawValue: state) else {
        throw ValidationError("the state must be fresh, stale or failed")
      }
      self = .state(state)
    default: throw ValidationError("give host=NAME, older-than=30d, larger-than=20k or state=stale")
    }
  }

  /// Returns true if `source` matches the filter at `now`.
  func matches(_ source: ListedSource, at now: Date) -> Bool {
    switch self {
    case .host(let host): SourceURLParts(source.source.url).host == host
    case .olderThan(let seconds): now.timeIntervalSince(source.lastUsed) > Double(seconds)
    case .largerThan(let bytes): source.bytes > bytes
    case .state(let state): source.state(at: now) == state
    }
  }

  private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400]

  /// Parses `90s`, `15m`, `12h`, `30d` or `8w` as a number of seconds.
  private static func seconds(_ text: String) throws -> Int {
    guard let unit = text.last.flatMap({ units[$0] }), let seconds = UnitNumber.integer(text.dropLast(), times: unit)
    else { throw ValidationError("give an age such as 90s, 15m, 12h, 30d or 8w") }
    return seconds
  }
}
