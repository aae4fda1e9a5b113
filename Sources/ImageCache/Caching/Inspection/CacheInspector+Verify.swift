import GRDB

extension CacheInspector {
  /// How much a verification reads.
  public enum VerificationDepth: Hashable, Sendable {
    /// SQLite's own structures, and the descriptions of all sources.
    case quick
    /// Every byte of every thumbnail too.
    case full
  }

  /// Checks the whole cache, a page of sources at a time, while others go on using it.
  ///
  /// - Parameters:
  ///   - depth: How much is read.
  ///   - report: Hears of each problem.
  public func verify(
    _ depth: VerificationDepth, report: (CacheProblem) throws -> Void
  ) throws -> CacheVerification {
    var result = CacheVerification()
    try result.take(try generation.read(Self.damage), report)
    try result.take(try generation.read(ThumbnailCheck.totals), report)
    var last = Int.min
    while let page = try generation.read({ try SourcePage(after: last, in: $0) }) {
      result.sources += page.sources.count
      result.outdated += page.outdated
      try result.take(page.unusable.map(Self.badSource), report)
      if depth == .full {
        let first = last
        try result.take(
          try generation.read { try ThumbnailCheck.all(after: first, through: page.last, in: $0) }, report)
      }
      last = page.last
    }
    return result
  }

  private static func badSource(_ key: SourceKey?) -> ThumbnailCheck {
    .problem(CacheProblem(code: .badSource, key: key, detail: "The description fails its checksum."))
  }

  /// What SQLite has to say, at most twenty lines.
  private static func damage(in database: Database) throws -> [ThumbnailCheck] {
    var lines: [ThumbnailCheck] = []
    var run = try StatementRun("PRAGMA quick_check(20)", in: database)
    while var columns = try run.next() {
      guard let line = columns.text(), line != "ok" else { continue }
      lines.append(.problem(CacheProblem(code: .database, key: nil, detail: line)))
    }
    return lines
  }
}

extension CacheVerification {
  /// Counts findings, and reports the problems among them.
  fileprivate mutating func take(_ findings: [ThumbnailCheck], _ report: (CacheProblem) throws -> Void) rethrows {
    for finding in findings {
      switch finding {
      case .whole(let size):
        thumbnails += 1
        bytes += size
      case .outdated: outdated += 1
      case .problem(let problem):
        problems += 1
        try report(problem)
      }
    }
  }
}
