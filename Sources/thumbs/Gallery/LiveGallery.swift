import Foundation
import Synchronization

/// Writes the page of a gallery while the run lasts, so that it can be opened from the first second.
///
/// The page shows the rows that were read or have finished, and says that it is not complete. Its script loads newer
/// versions. The final page replaces it; if the process is killed, it stays.
final class LiveGallery: Sendable {
  private struct State {
    var cards = LiveCards()
    var counts: [ReportLine.Status: Int] = [:]
    var readCount = 0
    var total: Int?
  }

  private let title: String
  private let date: Date
  private let place: ReplacedFile
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())
  /// Held during each write, so that none takes place after ``end()`` has returned. Nil from then on.
  private let schedule = Mutex<LiveSchedule?>(LiveSchedule())
  private let timer = RepeatingTimer("thumbs.gallery")

  /// Prepares the page with `title` and the time of the run in the file of `place`.
  ///
  /// - Parameter elapsed: Returns the time since the start of the run. Default since this call.
  init(title: String, date: Date, place: ReplacedFile, elapsed: (@Sendable () -> Duration)? = nil) {
    let begin = ContinuousClock.now
    self.title = title
    self.date = date
    self.place = place
    self.elapsed = elapsed ?? { ContinuousClock.now - begin }
  }

  /// Adds a row that was read, if there is room for it. Unusable rows get a card only when they finish.
  func expect(_ entry: ManifestEntry) {
    state.withLock { state in
      state.readCount += 1
      if case .row(let row) = entry { state.cards.expect(row) }
    }
  }

  /// Replaces the card of the row `index`, which ended with `status`.
  func finish(_ card: [UInt8], index: Int, _ status: ReportLine.Status) {
    state.withLock { state in
      state.cards.finish(card, index: index)
      state.counts[status, default: 0] += 1
    }
  }

  /// Sets the number of all rows, once it is known.
  func setTotal(_ total: Int) { state.withLock { $0.total = total } }

  /// Writes the page now, and then at its times until ``end()``. `onError` receives an error of a later write.
  func start(onError: @escaping @Sendable (OutputError) -> Void) throws(OutputError) {
    try tick()
    timer.start(every: 250) { [weak self] in
      do throws(OutputError) {
        try self?.tick()
      } catch {
        onError(error)
      }
    }
  }

  /// Writes the page if it is due. ``start(onError:)`` calls this four times per second.
  func tick() throws(OutputError) {
    let time = elapsed()
    try schedule.withLock { schedule throws(OutputError) in
      let isChanged = state.withLock { $0.cards.isChanged }
      guard var next = schedule, next.isDue(at: time, isChanged: isChanged) else { return }
      let page = page(after: next.interval)
      try place.replace { file throws(OutputError) in
        try FileDescriptor.write(page[...], to: file, path: place.path)
      }
      next.recordWrite(of: page.count, at: time)
      schedule = next
    }
  }

  /// Ends the updates. When this returns, the page is not written anymore.
  func end() {
    timer.stop()
    schedule.withLock { $0 = nil }
  }

  private func page(after interval: Duration) -> [UInt8] {
    let (cards, counts, progress) = state.withLock { state in
      let progress = GalleryProgress(
        finished: state.counts.values.reduce(0, +), read: state.readCount, total: state.total,
        isPartial: state.cards.isPartial, time: Date(), interval: interval)
      return (state.cards.take(), state.counts, progress)
    }
    let page = GalleryPage(title: title, counts: counts, date: date, progress: progress)
    var html = page.head
    for (offset, card) in cards.enumerated() {
      if offset > 0 { html += GalleryPage.separator }
      switch card {
      case .waiting(let row): html += GalleryCard(waiting: row).json
      case .finished(let card): html += card
      }
    }
    return html + page.tail
  }
}

/// The cards on the page of a run that has not finished. A plain value of bounded size.
///
/// These are the cards of all rows that have been read, if there are not too many. Otherwise, finished rows take the
/// place of those that changed longest ago, so that the page shows the rows that finished last.
struct LiveCards {
  /// The contents of a card.
  enum Card: Hashable {
    /// The row is not finished. Its data is made when the page is written, because most rows finish before.
    case waiting(ManifestRow)
    /// The data of the finished row.
    case finished([UInt8])

    /// An estimate of the memory.
    fileprivate var byteCount: Int {
      switch self {
      case .waiting(let row): 500 + row.url.utf8.count
      case .finished(let card): card.count
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

  /// Sets the data of the finished row `index`. Cards that changed longest ago make room.
  mutating func finish(_ card: [UInt8], index: Int) {
    put(.finished(card), index: index)
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

/// Decides when the page of a run that has not finished is written. A plain value; times count from the start.
struct LiveSchedule: Hashable, Sendable {
  /// The time between two writes without changes, which show that the run has not stopped.
  static let heartbeat = Duration.seconds(10)

  private var lastWrite: Duration?
  /// The shortest time between two writes: a second, and a second more per MiB of the page.
  private(set) var interval = Duration.seconds(1)

  /// Returns true if the page should be written at `time`. A page that has not changed is written now and then, with
  /// the time.
  func isDue(at time: Duration, isChanged: Bool) -> Bool {
    guard let lastWrite else { return true }
    return time - lastWrite >= (isChanged ? interval : Self.heartbeat)
  }

  /// Records that a page of `byteCount` bytes was written at `time`.
  mutating func recordWrite(of byteCount: Int, at time: Duration) {
    lastWrite = time
    interval = .seconds(1) + .milliseconds((1000 * byteCount) >> 20)
  }
}
