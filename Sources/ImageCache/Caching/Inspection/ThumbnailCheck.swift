import GRDB

/// One finding of a verification.
enum ThumbnailCheck {
  case whole(bytes: Int)
  case outdated
  case problem(CacheProblem)

  /// Checks the thumbnails of a range of sources, and their number and size in the source records.
  static func all(after first: Int, through last: Int, in database: Database) throws -> [ThumbnailCheck] {
    try thumbnails(after: first, through: last, in: database) + counts(after: first, through: last, in: database)
      + orphans(after: first, through: last, in: database)
  }

  private static func thumbnails(
    after first: Int, through last: Int, in database: Database
  ) throws -> [ThumbnailCheck] {
    let columns = Thumbnail.columns.map { "t.\($0)" }.joined(separator: ", ")
    var run = try StatementRun(
      """
      SELECT s.key, t.spec, \(columns), b.data FROM source s JOIN thumbnail t ON t.source_id = s.id
      LEFT JOIN blob b ON b.id = t.blob_id WHERE s.id > ? AND s.id <= ?
      """, in: database)
    run.bind(first)
    run.bind(last)
    var result: [ThumbnailCheck] = []
    while var columns = try run.next() {
      guard let key = columns.bytes().flatMap({ SourceKey(bytes: $0) }) else { continue }
      let text = columns.text() ?? ""
      guard let spec = ThumbnailSpec(cacheText: text) else {
        result.append(.outdated)
        continue
      }
      if let thumbnail = Thumbnail(&columns, key: key, specs: [spec.cacheHash: spec]) {
        result.append(.whole(bytes: thumbnail.bytes.count))
      } else {
        result.append(
          .problem(CacheProblem(code: .badThumbnail, key: key, detail: "\(spec.label) fails its checksum.")))
      }
    }
    return result
  }

  private static func counts(after first: Int, through last: Int, in database: Database) throws -> [ThumbnailCheck] {
    var run = try StatementRun(
      """
      SELECT key FROM source s WHERE id > ? AND id <= ? AND (bytes, thumbnails) IS NOT
        (SELECT coalesce(sum(length), 0), count(*) FROM thumbnail WHERE source_id = s.id)
      """, in: database)
    run.bind(first)
    run.bind(last)
    var result: [ThumbnailCheck] = []
    while var columns = try run.next() {
      let key = columns.bytes().flatMap { SourceKey(bytes: $0) }
      result.append(
        .problem(CacheProblem(code: .wrongCount, key: key, detail: "The number or size of its thumbnails is wrong.")))
    }
    return result
  }

  /// Compares the totals with the sums over the rows, in one statement so that both are read at the same moment. Expiry
  /// times are compared by their low bits, whose sum cannot overflow.
  static func totals(in database: Database) throws -> [ThumbnailCheck] {
    var run = try StatementRun(
      """
      SELECT 1 WHERE (
        SELECT count(*), sum(failure_code IS NULL), sum(fresh_until & 16777215), sum(thumbnails), sum(bytes)
        FROM source
      ) IS NOT (
        SELECT coalesce(sum(sources), 0), sum(sources * NOT is_failure), sum(sources * (fresh_until & 16777215)),
          sum(thumbnails), sum(bytes)
        FROM total
      ) OR (SELECT coalesce(sum(length), 0) FROM original) IS NOT (SELECT bytes FROM original_total)
      """, in: database)
    guard try run.next() != nil else { return [] }
    return [.problem(CacheProblem(code: .wrongTotal, key: nil, detail: "The totals differ from the sums of the rows."))]
  }

  private static func orphans(after first: Int, through last: Int, in database: Database) throws -> [ThumbnailCheck] {
    var run = try StatementRun(
      """
      SELECT count(*) FROM thumbnail WHERE source_id > ? AND source_id <= ?
        AND source_id NOT IN (SELECT id FROM source WHERE id > ? AND id <= ?)
      """, in: database)
    for bound in [first, last, first, last] { run.bind(bound) }
    guard var columns = try run.next(), let count = columns.integer(), count > 0 else { return [] }
    return [.problem(CacheProblem(code: .orphans, key: nil, detail: "\(count) thumbnails belong to no source."))]
  }
}
