import BatchFetch
import Dispatch

/// Prints a table of icons: TableOfIcons LIST. Shows some rows, scrolls, then loads all icons as a batch.
@main @MainActor struct TableOfIcons {
  static func main() async throws {
    let apps = try App.list(at: CommandLine.arguments.dropFirst().first ?? "apps.plist")
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil))
    let table = IconTable(apps, pipeline: pipeline)

    // The first rows scroll away before their icons are loaded, so their loads are canceled.
    table.visibleRows = 0..<6
    await scroll(table, to: 3..<9)
    for row in 3..<9 { print(line(of: row, in: table)) }

    await downloadAll(apps, with: pipeline)
  }

  /// Scrolls, and waits until every visible row has an icon or a failure.
  private static func scroll(_ table: IconTable, to rows: Range<Int>) async {
    let (changes, change) = AsyncStream.makeStream(of: Int.self)
    table.rowChanged = { change.yield($0) }
    table.visibleRows = rows
    for await _ in changes where rows.allSatisfy({ table.isSettled($0) }) { break }
  }

  private static func line(of row: Int, in table: IconTable) -> String {
    let name = table.apps[row].name
    return switch table.icons[row] {
    case .here(let icon): "\(name): \(icon.size)"
    case .missing(let failure): "\(name): \(failure.code)"
    case .loading, nil: "\(name): …"
    }
  }

  /// Loads every icon. Those that the table has shown come from the memory cache.
  private static func downloadAll(_ apps: [App], with pipeline: ThumbnailPipeline) async {
    let requests = apps.map { ThumbnailRequest(url: $0.icon, size: 48) }
    await withCheckedContinuation { done in
      Batch(requests, over: pipeline).start(on: .main) { item in
        print("\(item.finished) of \(requests.count): \(apps[item.index].name)")
      } completion: { summary in
        print("\(summary.succeeded) icons, \(summary.failed) failed")
        done.resume()
      }
    }
  }
}

extension IconTable {
  /// True if the row has an icon or a failure, and will not change while it is visible.
  func isSettled(_ row: Int) -> Bool {
    switch icons[row] {
    case .here, .missing: true
    case .loading, nil: false
    }
  }
}
