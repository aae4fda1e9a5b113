import BatchFetch
import ImageCache

/// A search for the files of one row.
protocol ExistingSearch: Sendable {
  /// Begins to search.
  func start()
  /// Waits for the files; nil if one is missing, or made in another way.
  func files() -> ExistingFiles?
}

/// A file that may be one of a row.
struct ExistingCandidate: Sendable {
  let spec: ThumbnailSpec
  let label: OutputLabel
  let name: String
  let format: OutputFormat
}

extension PlannedRow {
  /// The files that the row may have, for each of its sizes; nil if nothing about them is known.
  var candidates: [[ExistingCandidate]]? {
    guard case .row(let row) = entry, let name, !specs.isEmpty, files.count == specs.count else { return nil }
    return specs.map { spec in
      name.possibleNames(of: spec).map { name, format in
        ExistingCandidate(spec: spec, label: OutputLabel(row, spec), name: name, format: format)
      }
    }
  }
}

/// The files that an earlier run has made for a row.
final class ExistingFiles: Sendable {
  /// The outcome of the row.
  let outcome: ReportLine.RowOutcome

  /// Takes the files that were found for each size; nil unless it is one for each. With two formats, nothing says which
  /// one the image has now.
  init?(_ files: [[(ExistingCandidate, Thumbnail)]]) {
    guard files.allSatisfy({ $0.count == 1 }) else { return nil }
    let found = files.flatMap { $0 }
    outcome = .kept(found.map(\.1), found.map { ReportLine.Output($1, path: $0.name, outcome: .unchanged) })
  }
}

/// The rows of a plan, with the files that exist already, which are searched ahead.
final class ExistingRows: RowPlan {
  /// The search for the files of one row.
  private struct Search: Lookup {
    let search: (any ExistingSearch)?

    func start() { search?.start() }
    func cancel() {}
    func value() -> ExistingFiles? { search?.files() }
  }

  private let plan: any RowPlan
  private let output: any ThumbnailOutput
  private let rows = LookupQueue<PlannedRow, Search>()

  /// Searches `output` for the files of the rows of `plan`.
  init(_ plan: any RowPlan, in output: any ThumbnailOutput) { (self.plan, self.output) = (plan, output) }

  func begin(with downloader: Downloader) {
    plan.begin(with: downloader)
    rows.begin { [plan, output] in plan.next().map { ($0, Search(search: output.search(for: $0))) } }
  }

  func cancel() {
    plan.cancel()
    rows.cancel()
  }

  func next() -> PlannedRow? {
    guard let (row, files) = rows.next() else { return nil }
    var planned = row
    planned.existing = files
    return planned
  }

  func finish(_ row: PlannedRow) { plan.finish(row) }

  var expectedRows: RowTotal { plan.expectedRows }
  var isPartial: Bool { plan.isPartial }
  var listEnd: ListEnd? { plan.listEnd }
  var failure: InputError? { plan.failure }
  var lack: InputError? { plan.lack }
  var remarks: [String] { plan.remarks }
}
