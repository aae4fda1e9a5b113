import GRDB

/// The result of a lookup in a generation.
enum Finding {
  case missing
  /// An intact entry with those of the requested thumbnails that exist.
  case found(StoredSource, [ThumbnailSpec: Thumbnail])
  /// An entry that fails its checksum, belongs to another URL, or is a failure of another renderer edition.
  case unusable
}

/// Looks up entries through one prepared statement, which reads the rows of a source in one descent.
struct EntryFinder: ~Copyable {
  private var run: StatementRun
  private let names: SpecNames
  /// The slots of the rows that were returned by the last ``find(_:)``.
  private(set) var slots: [Int] = []

  init(in database: Database, names: SpecNames) throws {
    run = try StatementRun("SELECT id, slot, record, body FROM item WHERE id BETWEEN ? AND ?", in: database)
    self.names = names
  }

  /// Returns the entry of a source with those of the wanted thumbnails that exist.
  mutating func find(_ lookup: CacheLookup) throws -> Finding {
    slots.removeAll(keepingCapacity: true)
    let range = RowNumber.all(of: lookup.key)
    run.restart()
    run.bind(range.lowerBound)
    run.bind(range.upperBound)
    defer { run.restart() }
    guard var columns = try run.next(), let row = columns.integer() else { return .missing }
    // A thumbnail without a source can only be the result of damage.
    guard row == range.lowerBound else { return .unusable }
    let slot = columns.integer() ?? -1
    guard let record = columns.withBytes({ SourceRecord($0, expecting: lookup.url) }) ?? nil, !record.isOutdated else {
      return .unusable
    }
    // Another source may have the same place.
    guard record.key == lookup.key else { return .missing }
    guard record.source.url == lookup.url else { return .unusable }
    return try thumbnails(of: record.source, slot: slot, lookup)
  }

  /// Reads the rows behind the source until all wanted thumbnails are found.
  private mutating func thumbnails(of source: StoredSource, slot: Int, _ lookup: CacheLookup) throws -> Finding {
    var found: [ThumbnailSpec: Thumbnail] = [:]
    if case .image(_, let digest, _) = source.content {
      var wanted = lookup.specs.map { spec in
        let name = names.name(of: spec)
        return (row: RowNumber.thumbnail(name, of: lookup.key), spec: spec, text: name.text)
      }
      while !wanted.isEmpty, var columns = try run.next() {
        let row = columns.integer()
        guard let index = wanted.firstIndex(where: { $0.row == row }) else { continue }
        let (_, spec, text) = wanted.remove(at: index)
        let slot = columns.integer() ?? -1
        guard let (record, bytes) = ThumbnailRecord.read(&columns) else { return .unusable }
        // Another spec may have the same row.
        guard record.specText == text, record.digest == digest else { continue }
        found[spec] = Thumbnail(spec: spec, size: record.size, format: record.format, bytes: bytes)
        slots.append(slot)
      }
    }
    if slots.isEmpty { slots.append(slot) }
    return .found(source, found)
  }
}

extension ThumbnailRecord {
  /// Reads the columns `record` and `body`; nil if they are damaged.
  static func read(_ columns: inout ColumnReader) -> (ThumbnailRecord, [UInt8])? {
    guard let record = columns.blob() else { return nil }
    let body = columns.blob() ?? .empty
    return ThumbnailRecord(record, body: body).map { ($0, [UInt8](body)) }
  }
}
