/// The cards on the page of a run that has not finished. A plain value of bounded size.
///
/// These are the cards of all rows that have been read, if there are not too many. Otherwise, finished rows take the
/// place of those that changed longest ago, so that the page shows the rows that finished last.
struct LiveCards {
  /// The contents of a card.
  enum Card: Hashable {
    /// The row is not finished. Its HTML is made when the page is written, because most rows finish before.
    case waiting(ManifestRow)
    /// The HTML of the finished row.
    case finished([UInt8])

    /// An estimate of the memory.
    fileprivate var byteCount: Int {
      switch self {
      case .waiting(let row): 500 + row.url.utf8.count
      case .finished(let html): html.count
      }
    }
  }

  private struct Entry {
    var card: Card
    /// The number of the change that made the card what it is.
    var change: Int
  }

  /// The maximum number of cards.
  static let countLimit = 1000
  /// The maximum size of all cards, if there are several. Cards with embedded images are large.
  static let byteLimit = 4 << 20

  private var entries: [Int: Entry] = [:]
  /// The rows in the order of their changes. Superseded changes are skipped when they come first.
  private var changes: [(index: Int, change: Int)] = []
  private var firstChange = 0
  private var lastChange = 0
  /// The size of all cards: an estimate for those of waiting rows.
  private(set) var byteCount = 0
  /// True if there was no room for a row.
  private(set) var isPartial = false
  /// True if a card has changed since the last call to ``take()``.
  private(set) var isChanged = false

  /// The number of cards.
  var count: Int { entries.count }

  /// Adds the card of a row that was read, if there is room.
  mutating func expect(_ row: ManifestRow) {
    let hasRoom = !isPartial && count < Self.countLimit && byteCount < Self.byteLimit
    guard hasRoom else {
      isPartial = true
      return
    }
    if entries[row.index] == nil { put(.waiting(row), index: row.index) }
  }

  /// Sets the HTML of the finished row `index`. Cards that changed longest ago make room.
  mutating func finish(_ html: [UInt8], index: Int) {
    put(.finished(html), index: index)
  }

  /// Returns the cards in the order of their rows.
  mutating func take() -> [Card] {
    isChanged = false
    return entries.sorted { $0.key < $1.key }.map(\.value.card)
  }

  private mutating func put(_ card: Card, index: Int) {
    lastChange += 1
    isChanged = true
    byteCount += card.byteCount - (entries[index]?.card.byteCount ?? 0)
    entries[index] = Entry(card: card, change: lastChange)
    changes.append((index, lastChange))
    while count > Self.countLimit || byteCount > Self.byteLimit && count > 1 { removeOldest() }
    if firstChange > 2 * Self.countLimit { dropOldChanges() }
  }

  private mutating func removeOldest() {
    let (index, change) = changes[firstChange]
    firstChange += 1
    guard let entry = entries[index], entry.change == change else { return }
    entries[index] = nil
    byteCount -= entry.card.byteCount
    isPartial = true
  }

  private mutating func dropOldChanges() {
    changes.removeFirst(firstChange)
    firstChange = 0
  }
}
