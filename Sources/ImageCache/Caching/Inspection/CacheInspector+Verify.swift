import GRDB

extension CacheInspector {
  /// The depth of a verification.
  public enum VerificationDepth: Hashable, Sendable {
    /// Checks SQLite's own structures and the records of all sources.
    case quick
    /// Reads every byte of every thumbnail too.
    case full
  }

  /// Checks the whole cache in small steps while other processes use it. No read transaction lasts long enough to keep
  /// the write-ahead log from being emptied.
  ///
  /// - Parameters:
  ///   - depth: The depth of the verification.
  ///   - report: Called with each problem.
  public func verify(
    _ depth: VerificationDepth, report: (CacheProblem) throws -> Void
  ) throws -> CacheVerification {
    try verify(depth, afterEachRead: {}, report: report)
  }

  /// - Parameter afterEachRead: Called between two read transactions.
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
    .problem(CacheProblem(code: .badSource, key: key, detail: "The source record fails its checksum."))
  }

  /// SQLite's findings for each table, at most twenty per table. The table of bodies is left out: it is nearly the
  /// whole database, and one statement that reads all of it would keep the log from being emptied.
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

  /// Reads all bodies in small steps, so that SQLite finds damaged pages.
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

  /// Reads some bodies and returns the identifier of the last one; nil if there are no more.
  private static func lastBody(after previous: Int, in database: Database) throws -> Int? {
    // Reading the last byte of a body makes SQLite follow its whole chain of pages.
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
  /// Counts findings and reports the problems among them.
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
