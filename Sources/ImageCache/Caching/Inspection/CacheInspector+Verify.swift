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
    for check in Self.structure {
      try result.take(try generation.read(check), report)
      try afterEachRead()
    }
    do {
      try checkRows(depth, &result, afterEachRead, report)
    } catch let error as DiskCacheError where error.code == .corrupt {
      try result.take([.problem(.database, nil, error.message)], report)
      return result
    }
    try checkSlots(&result, afterEachRead, report)
    return result
  }

  private func checkRows(
    _ depth: VerificationDepth, _ result: inout CacheVerification, _ afterEachRead: () throws -> Void,
    _ report: (CacheProblem) throws -> Void
  ) throws {
    var rows = RowVerification(depth)
    while let findings = try generation.read({ try rows.next(in: $0) }) {
      try result.take(findings, report)
      try afterEachRead()
    }
  }

  /// Reports at most one problem: rows of `slot` that lead nowhere.
  private func checkSlots(
    _ result: inout CacheVerification, _ afterEachRead: () throws -> Void, _ report: (CacheProblem) throws -> Void
  ) throws {
    var (previous, lost) = (Int.min, 0)
    while let (last, count) = try generation.read({ try DiskTransactions.lostSlots(after: previous, in: $0) }) {
      (previous, lost) = (last, lost + count)
      try afterEachRead()
    }
    guard lost > 0 else { return }
    let detail = "\(lost) rows of the index for statistics and eviction lead nowhere."
    try result.take([.problem(.wrongTotal, nil, detail)], report)
  }

  /// SQLite's findings for each table, at most twenty per table. The table of bodies is left out: it is nearly the
  /// whole database, and one statement that reads all of it would keep the log from being emptied.
  private static let structure = ["slot", "used"].map { table in
    { @Sendable (database: Database) -> [RowCheck] in
      var lines: [RowCheck] = []
      var run = try StatementRun("PRAGMA quick_check(\(table))", in: database)
      while lines.count < 20, var columns = try run.next() {
        guard let line = columns.text(), line != "ok" else { continue }
        lines.append(.problem(.database, nil, line))
      }
      return lines
    }
  }
}

extension CacheVerification {
  /// Counts findings and reports the problems among them.
  fileprivate mutating func take(_ findings: [RowCheck], _ report: (CacheProblem) throws -> Void) rethrows {
    for finding in findings {
      switch finding {
      case .source: sources += 1
      case .intact: break
      case .thumbnail(let size):
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
