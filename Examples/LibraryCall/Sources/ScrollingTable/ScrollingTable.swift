import BatchFetch

/// Shows a table of icons that scrolls: ScrollingTable LIST.
///
/// The keys `j` and `k` scroll by a row, and the space bar scrolls by a page; `q` ends the program. The keys may come
/// from a pipe. When it has ended, so does the program as soon as each visible row has an icon or a failure.
@main @MainActor struct ScrollingTable {
  private enum Event: Sendable {
    case key(Character)
    case endOfKeys
    case rowChanged(Int)
  }

  private static let height = 6

  static func main() async throws {
    let rows = try IconRow.list(at: CommandLine.arguments.dropFirst().first ?? "apps.plist")
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads.concurrency = 3
    let list = IconList(rows, pipeline: ThumbnailPipeline(configuration))
    let (events, event) = AsyncStream.makeStream(of: Event.self)
    list.rowChanged = { event.yield(.rowChanged($0)) }
    let keyboard = Keyboard { key in event.yield(key.map(Event.key) ?? .endOfKeys) }
    let screen = Screen()
    screen.open()
    await run(list, events, screen)
    screen.close()
    keyboard.close()
  }

  private static func run(_ list: IconList, _ events: AsyncStream<Event>, _ screen: Screen) async {
    var hasEnded = false
    scroll(list, by: 0, screen)
    for await event in events {
      switch event {
      case .key("j"): scroll(list, by: 1, screen)
      case .key("k"): scroll(list, by: -1, screen)
      case .key(" "): scroll(list, by: height, screen)
      case .key("q"): return
      case .key: break
      case .endOfKeys: hasEnded = true
      case .rowChanged(let row): screen.draw(row, list)
      }
      if hasEnded, list.visibleRows.allSatisfy({ list.rows[$0].isSettled }) { return screen.draw(list) }
    }
  }

  /// Scrolls by some rows, as far as there are rows.
  private static func scroll(_ list: IconList, by count: Int, _ screen: Screen) {
    let first = min(max(0, list.visibleRows.lowerBound + count), max(0, list.rows.count - height))
    list.show(first..<min(first + height, list.rows.count))
    screen.draw(list)
  }
}
