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

/// The result of a verification.
public struct CacheVerification: Hashable, Sendable {
  /// The number of intact source records.
  public var sources = 0
  /// The number of intact thumbnails.
  public var thumbnails = 0
  /// The total size of the intact thumbnails in bytes.
  public var bytes = 0
  /// The number of thumbnails and failures from another renderer version, which are never served.
  public var outdated = 0
  /// The number of problems found.
  public var problems = 0
}

/// Checks all rows of `item` in order, some of them per read transaction. A plain value.
private struct RowVerification {
  /// The rows checked in one transaction.
  private static let step = 128

  let depth: CacheInspector.VerificationDepth
  private var last = Int.min
  /// The row and the key of the last source.
  private var source: (row: Int, key: SourceKey)?
  /// The time until which the last row is fresh; nil unless it is an image's.
  private var freshUntil: Int?

  init(_ depth: CacheInspector.VerificationDepth) { self.depth = depth }

  /// Checks the next rows; nil if there are no more.
  mutating func next(in database: Database) throws -> [RowCheck]? {
    var findings: [RowCheck] = []
    var run = try StatementRun(
      """
      SELECT i.id, i.slot, i.record, s.id, s.bytes, s.fresh_until, length(i.body), \(body) FROM item i
      LEFT JOIN slot s ON s.number = i.slot WHERE i.id > ? ORDER BY i.id LIMIT \(Self.step)
      """, in: database)
    run.bind(last)
    var count = 0
    while var columns = try run.next() {
      guard let row = columns.integer() else { continue }
      (last, count) = (row, count + 1)
      findings += check(row, &columns)
    }
    return count == 0 ? nil : findings
  }

  /// The expression that reads a body. Reading the last byte makes SQLite follow the whole chain of pages.
  private var body: String { depth == .full ? "i.body" : "length(substr(i.body, -1))" }

  private mutating func check(_ row: Int, _ columns: inout ColumnReader) -> [RowCheck] {
    columns.skip(1)
    let record = columns.blob() ?? .empty
    let slot = (row: columns.integer(), bytes: columns.integer(), freshUntil: columns.integer())
    let length = columns.integer() ?? 0
    let content = check(row, record, body: depth == .full ? columns.blob() ?? .empty : nil)
    if case .problem = content { return [content] }
    guard slot.row == row, slot.bytes == length, slot.freshUntil == freshUntil else {
      return [content, .problem(.wrongCount, key(of: row), "The index for statistics and eviction is wrong.")]
    }
    return [content]
  }

  private mutating func check(
    _ row: Int, _ record: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer?
  ) -> RowCheck {
    freshUntil = nil
    switch RowNumber.kind(of: row) {
    case .source: return checkSource(row, record)
    case .verdict: return checkVerdict(row, record)
    case .thumbnail, .original:
      guard let key = key(of: row) else {
        return .problem(.orphans, SourceKey(at: RowNumber.source(of: row)), "A thumbnail belongs to no source.")
      }
      return RowNumber.kind(of: row) == .original
        ? checkOriginal(record, body, of: key) : checkThumbnail(record, body, of: key)
    }
  }

  private mutating func checkSource(_ row: Int, _ record: UnsafeRawBufferPointer) -> RowCheck {
    source = nil
    guard let stored = SourceRecord(record), RowNumber.source(stored.key) == row else {
      // The key is lost with the record, but its place names enough of it to remove the rows.
      source = (row, SourceKey(at: row))
      return .problem(.badSource, SourceKey(at: row), "The source record fails its checksum.")
    }
    source = (row, stored.key)
    freshUntil = stored.source.isImage ? stored.source.policy.freshUntil : nil
    return stored.isOutdated ? .outdated : .source
  }

  private func checkThumbnail(
    _ record: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer?, of key: SourceKey
  ) -> RowCheck {
    let thumbnail =
      if let body { ThumbnailRecord(record, body: body) } else { ThumbnailRecord(withoutBody: record) }
    guard let thumbnail else { return .problem(.badThumbnail, key, "A thumbnail fails its checksum.") }
    guard ThumbnailSpec(cacheText: thumbnail.specText) != nil else { return .outdated }
    return .thumbnail(bytes: body?.count ?? 0)
  }

  private func checkOriginal(
    _ record: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer?, of key: SourceKey
  ) -> RowCheck {
    let original = OriginalRecord(record)
    let isWhole = body.map { BodyDigest(of: [UInt8]($0)) == original?.digest } ?? true
    return original != nil && isWhole ? .intact : .problem(.badThumbnail, key, "The original fails its checksum.")
  }

  private func checkVerdict(_ row: Int, _ record: UnsafeRawBufferPointer) -> RowCheck {
    guard let verdict = VerdictRecord(record), RowNumber.verdict(on: verdict.digest) == row else {
      return .problem(.wrongTotal, nil, "The record of an undecodable file fails its checksum.")
    }
    return verdict.rendererEdition == Renderer.edition ? .intact : .outdated
  }

  private func key(of row: Int) -> SourceKey? { source?.row == RowNumber.source(of: row) ? source?.key : nil }
}

/// One finding of a verification.
private enum RowCheck {
  /// An intact source.
  case source
  /// Another intact row.
  case intact
  /// An intact thumbnail.
  case thumbnail(bytes: Int)
  /// A thumbnail of another renderer version, or a failure or verdict of another edition, which is never served.
  case outdated
  case problem(CacheProblem)

  static func problem(_ code: CacheProblem.Code, _ key: SourceKey?, _ detail: String) -> RowCheck {
    .problem(CacheProblem(code: code, key: key, detail: detail))
  }
}
