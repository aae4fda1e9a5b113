import BatchFetch
import HTTPTypes
import ImageCache
import Synchronization

/// The rows of manifests with the names of their files. Names are assigned in the order of the manifests, so that they
/// do not depend on the order in which downloads finish.
final class ManifestPlan: RowPlan {
  private let list: any EntrySource
  private let specs: @Sendable (RowOptions) -> [ThumbnailSpec]
  /// The part of the rows to return; nil for all.
  private let shard: Shard?
  /// The names assigned so far. Only the thread that calls `next()` uses them; the lock is for the compiler.
  private let names: Mutex<OutputNames>
  private let dependencies = Mutex(RowDependencies())
  /// The rows read so far, in all shards.
  private let tally = Mutex(ListTally())

  /// Creates a plan for the rows of `list`, or those of a `shard`. `names` assigns their files, and `specs` returns the
  /// thumbnails of a row.
  init(
    _ list: any EntrySource, shard: Shard? = nil, names: OutputNames,
    specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]
  ) {
    self.list = list
    self.shard = shard
    self.specs = specs
    self.names = Mutex(names)
  }

  func begin(with downloader: Downloader) { list.begin(with: downloader) }

  func cancel() { list.cancel() }

  func next() -> PlannedRow? {
    while let entry = list.next() {
      tally.withLock { $0.add(entry) }
      var row = plan(entry)
      guard shard?.contains(entry) ?? true else { continue }
      dependencies.withLock { $0.begin(&row) }
      return row
    }
    return nil
  }

  /// Assigns the names of an entry, whether it is in the shard or not: the names of a run do not depend on its shard.
  private func plan(_ entry: ManifestEntry) -> PlannedRow {
    guard case .row(let row) = entry else { return PlannedRow(entry: entry) }
    let specs = specs(row.options)
    return PlannedRow(
      entry: entry, name: names.withLock { $0.claim(row, specs: specs.files) }, specs: specs,
      ownFields: row.options.headers.map { $0.name.lowercased() })
  }

  func finish(_ row: PlannedRow) {
    if case .row(let row) = row.entry { dependencies.withLock { $0.end(row) } }
    row.end.reach()
  }

  var expectedRows: RowTotal { shard.map { list.expectedRows.part(of: $0.count) } ?? list.expectedRows }

  var listEnd: ListEnd? {
    let tally = tally.withLock { $0 }
    return ListEnd(rows: tally.rows, digest: tally.digest.description, shard: shard)
  }

  var isPartial: Bool { list.failure != nil }

  var failure: InputError? { list.failure }

  var lack: InputError? { list.lack }

  var remarks: [String] { list.remarks }
}

/// An ordered source of the rows of a run.
protocol RowPlan: Sendable {
  /// Gives the plan the means to request pages. Called once, before ``next()``. Default: does nothing.
  func begin(with downloader: Downloader)
  /// Ends requests of pages, for which ``next()`` may wait. Default: does nothing.
  func cancel()
  /// Returns the next row; nil after the last, and after a ``failure``. May block. Called by one thread at a time.
  func next() -> PlannedRow?
  /// Marks `row` as finished: its files are written, or never will be. Called on any thread.
  func finish(_ row: PlannedRow)
  /// The number of all rows. Does not block.
  var expectedRows: RowTotal { get }
  /// True if rows are known to be missing from this plan.
  var isPartial: Bool { get }
  /// The list of the rows, when all of them have been read; nil if the rows are not those of a list. Default nil.
  var listEnd: ListEnd? { get }
  /// The error that ended the rows early; nil while there are more rows, and after a normal end.
  var failure: InputError? { get }
  /// The error about a list without any row; nil for any other list. Default nil.
  var lack: InputError? { get }
  /// Sentences about files that are no rows. Default: none.
  var remarks: [String] { get }
}

extension RowPlan {
  func begin(with downloader: Downloader) {}
  func cancel() {}
  var listEnd: ListEnd? { nil }
  var lack: InputError? { nil }
  var remarks: [String] { [] }
}

/// A demand on rows, besides that they are valid.
enum RowDemand: Hashable, Sendable {
  case none
  /// Each has the digest of its image.
  case digest
}

/// An item of a manifest with everything that is decided before it is fetched.
struct PlannedRow: Sendable {
  var entry: ManifestEntry
  /// The names of the files to write; nil for a bad row.
  var name: OutputName?
  /// The thumbnails to make, and the placeholder and the hash if they were requested.
  var specs: [ThumbnailSpec] = []
  /// The lowercase names of the row's own header fields. A retry has to send them again.
  var ownFields: [String] = []
  /// The ends of the rows that this row depends on.
  var after: [Milestone] = []
  /// The member `again` of the retried report, for a row that cannot be retried now. It is copied to the next report.
  @Rare var again: ReportLine.Again? = nil
  /// The line of the retried report, without its line feed, for a row that the retry skips; nil for any other row.
  var kept: [UInt8]?
  /// The search for the image in the page that is the URL of the row; nil if the URL is that of the image.
  var search: PageSearch?
  /// The files with the image of `--fallback` that the retried report names, and their directory; nil without any.
  var fallback: (directory: String, outputs: [ReportLine.Output])?
  /// The files of the row if they exist already, and are left alone.
  var existing: ExistingFiles?
  /// The end of this row, which other rows may wait for.
  var end = Milestone()

  /// The thumbnails that become files.
  var files: [ThumbnailSpec] { specs.files }
}

extension PlannedRow {
  /// Returns the request for this row. The row's header fields replace those in `headerFields` with the same names.
  /// Throws for a bad row, and for one that does not meet the `demand`.
  func request(headerFields: HTTPFields, demand: RowDemand = .none) throws(FetchFailure) -> ThumbnailRequest {
    switch entry {
    case .bad(let row): throw FetchFailure(.badRow, row.reason)
    case .row(let row):
      if demand == .digest, row.options.digest == nil {
        throw FetchFailure(.badRow, "The row has no SHA-256 of its image, and --require-hash demands one.")
      }
      if let page = row.page { try page.check(row.url) }
      var request = ThumbnailRequest(
        url: row.url, specs: specs, headerFields: headerFields, priority: row.options.priority)
      request.digest = row.options.digest
      request.mirrors = row.options.mirrors
      request.after = after
      request.referer = row.page?.referer(for: row.url)
      if row.place != nil { request.options.files = .allowed }
      for header in row.options.headers {
        if let name = HTTPField.Name(header.name) { request.headerFields[name] = header.value }
      }
      return request
    }
  }
}

/// The rows of a plan as a sequence that counts them.
final class PlannedRows: Sequence, IteratorProtocol, Sendable {
  private let plan: any RowPlan
  /// Called with each row that is read.
  private let onRow: @Sendable (PlannedRow) -> Void
  /// Called with the number of rows when the last one has been read.
  private let onEnd: @Sendable (Int) -> Void
  private let count = Atomic(0)
  private let isAtEnd = Atomic(false)

  init(
    _ plan: any RowPlan, onRow: @escaping @Sendable (PlannedRow) -> Void, onEnd: @escaping @Sendable (Int) -> Void
  ) {
    self.plan = plan
    self.onRow = onRow
    self.onEnd = onEnd
  }

  func next() -> PlannedRow? {
    guard let row = plan.next() else {
      isAtEnd.store(true, ordering: .releasing)
      onEnd(count.load(ordering: .relaxed))
      return nil
    }
    count.add(1, ordering: .relaxed)
    onRow(row)
    return row
  }

  /// The number of rows read so far.
  var readCount: Int { count.load(ordering: .relaxed) }

  /// The coverage of a run in which `finished` rows finished.
  func coverage(finished: Int) -> Coverage {
    isAtEnd.load(ordering: .acquiring) && !plan.isPartial ? .complete : .partial(rows: finished)
  }
}

/// The unfinished rows, keyed by their names and URLs. Its size is bounded by the number of rows that the batch pulls
/// ahead, not by the manifest.
struct RowDependencies {
  private var rows: [String: UnfinishedRows] = [:]

  /// Makes `planned` wait for the rows that it depends on, and adds it to the unfinished rows.
  mutating func begin(_ planned: inout PlannedRow) {
    guard case .row(let row) = planned.entry else { return }
    planned.after = ends(of: row)
    for key in row.keys { rows[key, default: UnfinishedRows()].insert(row.index, end: planned.end) }
  }

  /// Returns the ends of the rows that `row` depends on: unfinished earlier rows with a matching name or URL.
  private func ends(of row: ManifestRow) -> [Milestone] {
    row.options.depends.flatMap { key in rows[key]?.ends ?? [] }
  }

  /// Removes `row`, which has finished.
  mutating func end(_ row: ManifestRow) {
    for key in row.keys {
      guard let place = rows.index(forKey: key) else { continue }
      rows.values[place].remove(row.index)
      if rows.values[place].isEmpty { rows.remove(at: place) }
    }
  }
}

/// The unfinished rows with the same key. Nearly always one, for which no memory is allocated; a list that repeats one
/// URL has thousands.
private struct UnfinishedRows {
  private var first: (index: Int, end: Milestone)?
  private var others: [Int: Milestone] = [:]

  var isEmpty: Bool { first == nil && others.isEmpty }

  var ends: [Milestone] { (first.map { [$0.end] } ?? []) + others.values }

  mutating func insert(_ index: Int, end: Milestone) {
    if isEmpty { first = (index, end) } else { others[index] = end }
  }

  mutating func remove(_ index: Int) {
    if first?.index == index { first = nil } else { others[index] = nil }
  }
}

extension ManifestRow {
  /// The names by which other rows may refer to this one.
  fileprivate var keys: [String] { name.map { [$0, url] } ?? [url] }
}
