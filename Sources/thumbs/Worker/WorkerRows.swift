import BatchFetch
import ImageCache
import Synchronization

/// The rows that the worker reads: a JSON object on each line, as a lazy, single-pass sequence.
final class WorkerRows: Sequence, IteratorProtocol, Sendable {
  /// The end of the input.
  enum InputEnd: Hashable, Sendable {
    /// It was read to its end, and had this number of rows.
    case complete(rows: Int)
    /// It could not be read to its end.
    case failed(ManifestError)
  }

  private struct State {
    var lines: LineReader
    var ids = RecentIDs()
    var count = 0
  }

  private let keys: ManifestKeys
  private let specs: @Sendable (RowOptions) -> [ThumbnailSpec]
  /// Locked while a line is read, which may block.
  private let state: Mutex<State>
  private let budget: InputBudget
  private let dependencies = Mutex(RowDependencies())
  /// Under its own lock, so that a run can end while a line is read.
  private let end = Mutex<InputEnd?>(nil)

  /// Creates the rows in `lines`, of which no more than `budget` are in hand. `specs` returns the thumbnails of a row.
  init(
    _ lines: LineReader, budget: InputBudget = InputBudget(), specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]
  ) {
    var keys = ManifestKeys(urlKey: "url", nameKey: "name")
    keys.subtitle = []
    for place in keys.options.indices { keys.options[place].ignoring = .impossible }
    self.keys = keys
    self.specs = specs
    self.budget = budget
    state = Mutex(State(lines: lines))
  }

  /// The end of the input; nil while there may be more rows.
  var ending: InputEnd? { end.withLock { $0 } }

  /// Returns the next row; nil after the last, and after a failure. May block.
  func next() -> WorkerRow? {
    budget.waitForRoom()
    return state.withLock { state in
      do throws(ManifestError) {
        while let line = try state.lines.next() {
          if line.bytes?.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) == true { continue }
          return row(line, &state)
        }
        end.withLock { [count = state.count] in $0 = .complete(rows: count) }
      } catch {
        end.withLock { $0 = .failed(error) }
      }
      return nil
    }
  }

  /// Marks `row` as finished: its result is handed over.
  func finish(_ row: WorkerRow) {
    if case .row(let row) = row.planned.entry { dependencies.withLock { $0.end(row) } }
    row.planned.end.reach()
    budget.give(row.length)
  }

  private func row(_ line: LineReader.Line, _ state: inout State) -> WorkerRow {
    let (id, item) = read(line, &state.ids)
    let entry = item.entry(index: state.count, number: line.number, manifest: state.lines.name)
    state.count += 1
    let length = line.bytes?.count ?? 0
    budget.take(length)
    guard case .row(let row) = entry else {
      return WorkerRow(id: id, planned: PlannedRow(entry: entry), length: length)
    }
    var planned = PlannedRow(entry: entry, specs: specs(row.options))
    dependencies.withLock { $0.begin(&planned) }
    return WorkerRow(id: id, planned: planned, length: length)
  }

  /// Returns the id and the content of a line.
  private func read(_ line: LineReader.Line, _ ids: inout RecentIDs) -> (id: RowID?, item: ManifestItem) {
    do throws(RowFlaw) {
      guard let bytes = line.bytes else { throw RowFlaw(reason: "the line is too long") }
      let columns = try object(bytes)
      guard let value = columns["id"] else { throw RowFlaw(reason: "there is no id") }
      guard let id = RowID(value) else {
        throw RowFlaw(reason: "the id is neither a string nor a whole number of 64 bits with a sign")
      }
      guard !id.hasReplacement else { throw RowFlaw(reason: "the id is not valid Unicode, or contains U+FFFD") }
      guard ids.insert(id) else { throw RowFlaw(reason: "an earlier row has the same id") }
      return (id, keys.item(columns, line: line.number))
    } catch {
      return (nil, ManifestItem(line: line.number, content: .bad(error.reason)))
    }
  }

  private func object(_ bytes: [UInt8]) throws(RowFlaw) -> [String: Any] {
    do throws(DocumentFlaw) {
      guard let columns = try JSONDocument.parse(bytes) as? [String: Any] else {
        throw DocumentFlaw(reason: "not an object")
      }
      return columns
    } catch {
      throw RowFlaw(reason: error.reason == "not an object" ? error.reason : "not JSON: \(error.reason)")
    }
  }
}
