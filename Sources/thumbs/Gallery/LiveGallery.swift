import Dispatch
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
  private let place: ReplacedFile
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())
  /// Held during each write, so that none takes place after ``end()`` has returned. Nil from then on.
  private let schedule = Mutex<LiveSchedule?>(LiveSchedule())
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// Prepares the page with `title` in the file of `place`.
  ///
  /// - Parameter elapsed: Returns the time since the start of the run. Default since this call.
  init(title: String, place: ReplacedFile, elapsed: (@Sendable () -> Duration)? = nil) {
    let begin = ContinuousClock.now
    self.title = title
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
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.gallery"))
      source.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250), leeway: .milliseconds(50))
      source.setEventHandler { [weak self] in
        do throws(OutputError) {
          try self?.tick()
        } catch {
          onError(error)
        }
      }
      source.activate()
      timer = source
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
        let code = FileDescriptor.writeAll(page[...], to: file).code
        if code != 0 { throw OutputError(action: .write, path: place.path, code: code) }
      }
      next.recordWrite(of: page.count, at: time)
      schedule = next
    }
  }

  /// Ends the updates. When this returns, the page is not written anymore.
  func end() {
    timer.withLock { timer in
      timer?.cancel()
      timer = nil
    }
    schedule.withLock { $0 = nil }
  }

  private func page(after interval: Duration) -> [UInt8] {
    let (cards, counts, progress) = state.withLock { state in
      let progress = GalleryProgress(
        finished: state.counts.values.reduce(0, +), read: state.readCount, total: state.total,
        isPartial: state.cards.isPartial, time: Date(), interval: interval)
      return (state.cards.take(), state.counts, progress)
    }
    let page = GalleryPage(title: title, counts: counts, progress: progress)
    var html = page.head
    for (offset, card) in cards.enumerated() {
      if offset > 0, offset % GalleryPage.listLength == 0 { html += GalleryPage.listBreak }
      switch card {
      case .waiting(let row): html += GalleryCard(waiting: row).html
      case .finished(let card): html += card
      }
    }
    return html + page.tail
  }
}
