import BatchFetch
import Foundation
import ImageCache
import Synchronization

/// The rows that the worker reads: a JSON object on each line, as a lazy, single-pass sequence.
final class WorkerRows: Sequence, IteratorProtocol, Sendable {
  /// The end of the input.
  enum InputEnd: Hashable, Sendable {
    /// It was read to its end, and had this number of rows.
    case complete(rows: Int)
    /// It could not be read to its end.
    case failed(InputError)
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
      do throws(InputError) {
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
    do throws(ParseError) {
      guard let bytes = line.bytes else { throw ParseError(reason: "the line is too long") }
      let columns = try object(bytes)
      guard let value = columns["id"] else { throw ParseError(reason: "there is no id") }
      guard let id = RowID(value) else {
        throw ParseError(reason: "the id is neither a string nor a whole number of 64 bits with a sign")
      }
      guard !id.hasReplacement else { throw ParseError(reason: "the id is not valid Unicode, or contains U+FFFD") }
      guard ids.insert(id) else { throw ParseError(reason: "an earlier row has the same id") }
      return (id, keys.item(columns, line: line.number))
    } catch {
      return (nil, ManifestItem(line: line.number, content: .bad(error.reason)))
    }
  }

  private func object(_ bytes: [UInt8]) throws(ParseError) -> [String: Any] {
    do throws(ParseError) {
      guard let columns = try JSONDocument.parse(bytes) as? [String: Any] else {
        throw ParseError(reason: "not an object")
      }
      return columns
    } catch {
      throw ParseError(reason: error.reason == "not an object" ? error.reason : "not JSON: \(error.reason)")
    }
  }
}

/// A row of the worker.
struct WorkerRow: Sendable {
  /// The id; nil if the line has none that can be used.
  let id: RowID?
  /// The row, without names of files.
  let planned: PlannedRow
  /// The length of the line in bytes.
  let length: Int
}

/// The `id` of a row of the worker. A number and a string are never equal.
enum RowID: Hashable, Sendable {
  case number(Int)
  case text(String)

  /// Reads a JSON value; nil unless it is a string or a whole number of 64 bits with a sign.
  init?(_ value: Any?) {
    if let text = value as? String {
      self = .text(text)
    } else if let number = value as? NSNumber, !number.isBoolean, let whole = Int(exactly: number) {
      self = .number(whole)
    } else {
      return nil
    }
  }

  /// True if the text contains U+FFFD. ``JSONDocument`` puts that in place of half a surrogate pair, so that the
  /// result would not have the id of the row.
  var hasReplacement: Bool {
    if case .text(let text) = self { text.unicodeScalars.contains("\u{FFFD}") } else { false }
  }

  /// A hash of 128 bits. Compares strings byte by byte, unlike `==`, for which a letter may have several encodings.
  var digest: UInt128 { UInt128(hash(seed: 0)) << 64 | UInt128(hash(seed: 1)) }

  private func hash(seed: UInt8) -> UInt64 {
    // The hasher has random keys, so that nobody can find two ids with the same hash.
    var hasher = Hasher()
    hasher.combine(seed)
    switch self {
    case .number(let number): hasher.combine(number)
    case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }
}

extension NSNumber {
  /// True for a JSON value of true or false, which Foundation reads as a number.
  fileprivate var isBoolean: Bool { ["c", "B"].contains(String(cString: objCType)) }
}

/// The ids of the latest rows, in constant memory. A plain value.
struct RecentIDs {
  /// The default number of ids: more than the worker has in hand.
  static let standardCount = 8192

  private let limit: Int
  private var digests: Set<UInt128> = []
  /// The digests in the order of their rows; a ring once it is full.
  private var order: [UInt128] = []
  private var oldest = 0

  /// Creates a memory of the last `limit` ids, at least 1.
  init(limit: Int = standardCount) { self.limit = limit }

  /// Adds `id`, and forgets the oldest one if there are too many. Returns false if `id` is among them already.
  mutating func insert(_ id: RowID) -> Bool {
    let digest = id.digest
    guard digests.insert(digest).inserted else { return false }
    if order.count < limit {
      order.append(digest)
    } else {
      digests.remove(order[oldest])
      order[oldest] = digest
      oldest = (oldest + 1) % limit
    }
    return true
  }
}
