import GRDB

extension CacheInspector {
  /// How much a verification reads.
  public enum VerificationDepth: Hashable, Sendable {
    /// SQLite's own structures, and the descriptions of all sources.
    case quick
    /// Every byte of every thumbnail too.
    case full
  }

  /// Checks the whole cache, a part at a time, while others go on using it: no read lasts so long that it holds the
  /// write-ahead log back.
  ///
  /// - Parameters:
  ///   - depth: How much is read.
  ///   - report: Hears of each problem.
  public func verify(
    _ depth: VerificationDepth, report: (CacheProblem) throws -> Void
  ) throws -> CacheVerification {
    try verify(depth, afterEachRead: {}, report: report)
  }

  /// - Parameter afterEachRead: Is called where no read transaction is open.
  func verify(
    _ depth: VerificationDepth, afterEachRead: () throws -> Void, report: (CacheProblem) throws -> Void
  ) throws -> CacheVerification {
    var result = CacheVerification()
    for check in Self.structure + [{ try ThumbnailCheck.totals(in: $0) }] {
      try result.take(try generation.read(check), report)
      try afterEachRead()
    }
    try checkBodies(&result, afterEachRead, report)
    var last = Int.min
    while let page = try generation.read({ try SourcePage(after: last, in: $0) }) {
      try afterEachRead()
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

  /// What SQLite has to say of each table, at most twenty lines a table. The table of the bodies is left out: it is nearly all of
  /// the database, and a statement that reads all of it would hold the log back.
  private static let structure = ["source", "total", "thumbnail", "original", "original_total"].map { table in
    { @Sendable (database: Database) -> [ThumbnailCheck] in
      var lines: [ThumbnailCheck] = []
      var run = try StatementRun("PRAGMA quick_check(\(table))", in: database)
      while lines.count < 20, var columns = try run.next() {
        guard let line = columns.text(), line != "ok" else { continue }
        lines.append(.problem(CacheProblem(code: .database, key: nil, detail: line)))
      }
      return lines
    }
  }

  /// Reads the bodies from one end to the other, some at a time, so that SQLite meets what is wrong with their pages.
  private func checkBodies(
    _ result: inout CacheVerification, _ afterEachRead: () throws -> Void, _ report: (CacheProblem) throws -> Void
  ) throws {
    var last: Int? = Int.min
    while let previous = last {
      do throws(DiskCacheError) {
        last = try generation.read { try Self.lastBody(after: previous, in: $0) }
      } catch {
        guard error.code == .corrupt else { throw error }
        let problem = CacheProblem(code: .database, key: nil, detail: error.message)
        return try result.take([.problem(problem)], report)
      }
      try afterEachRead()
    }
  }

  /// Reads some bodies; returns the identifier of the last one, nil where there are no more.
  private static func lastBody(after previous: Int, in database: Database) throws -> Int? {
    // The last byte of a body is at the end of its chain of pages.
    var run = try StatementRun(
      """
      SELECT max(id), sum(length(substr(data, -1))) FROM (SELECT id, data FROM blob WHERE id > ? ORDER BY id LIMIT 64)
      """, in: database)
    run.bind(previous)
    guard var columns = try run.next() else { return nil }
    return columns.integer()
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
