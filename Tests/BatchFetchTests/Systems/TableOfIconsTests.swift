import BatchFetch
import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

/// The table of icons: three load at a time, each image once, and each row shows a placeholder until it is reloaded
/// with its icon. Rows that scroll out of sight are canceled.
@Suite(.timeLimit(.minutes(20))) struct TableOfIconsTests {
  private static let icon = [ScriptedTransport.Step].response(
    SampleImage.png(width: 20, height: 20), fields: [.cacheControl: "max-age=3600"])

  private let held = ScriptedTransport { _, _ in [.hold] + Self.icon }
  private let quick = ScriptedTransport { request, _ in
    request.source.lastPathComponent == "missing" ? .response([], status: 404) : Self.icon
  }

  /// A pipeline with three transfers at a time and no lower limit per host.
  private func pipeline(over transport: ScriptedTransport) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt.with {
      $0.concurrency = 3
      $0.perHost = 100
    }
    return ThumbnailPipeline(configuration, transport: transport)
  }

  private func urls(_ rows: Range<Int>) -> [String] { rows.map { "http://icons.test/\($0)" } }

  /// Loads an icon from its request to its end, which takes longer than the start of another one.
  private func letTimePass() async throws {
    _ = try await pipeline(over: quick).thumbnails(for: ThumbnailRequest(url: "http://icons.test/x", size: 16))
  }

  @Test func `Three icons load at a time, and each row is reloaded exactly once`() async throws {
    let table = IconTable(urls(0..<9), pipeline: pipeline(over: held))

    table.scroll(to: 0..<9)
    _ = await held.exchanges.values(count: 3)
    try await letTimePass()
    #expect(held.requests.count == 3)

    for count in 1...9 {
      await held.exchanges.values(count: count)[count - 1].resume()
      _ = await table.reloads.values(count: count)
    }
    try await letTimePass()
    #expect(held.load.peak == 3)
    #expect(held.requests.count == 9)
    #expect(table.reloads.values.sorted() == Array(0..<9))
  }

  @Test func `A row shows the placeholder until its icon is loaded, and for good if that fails`() async throws {
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "missing" ? .response([], status: 404) : [.hold] + Self.icon
    }
    let table = IconTable(urls(0..<1) + ["http://icons.test/missing"], pipeline: pipeline(over: transport))

    table.scroll(to: 0..<2)
    #expect(await table.failures.values(count: 1) == [1])
    #expect(table.icon(of: 0) == nil && table.icon(of: 1) == nil)

    await transport.exchanges.values(count: 2).first { $0.request.source.lastPathComponent == "0" }?.resume()
    #expect(await table.reloads.values(count: 1) == [0])
    #expect(table.icon(of: 0)?.size == PixelSize(width: 16, height: 16))
    #expect(table.icon(of: 1) == nil)
  }

  @Test func `A row that needs an image in flight starts nothing`() async throws {
    let pipeline = pipeline(over: held)
    let table = IconTable(urls(0..<1) + urls(0..<1) + urls(1..<2) + urls(0..<1), pipeline: pipeline)

    table.scroll(to: 0..<4)
    #expect(pipeline.runningCount == 2)
    await held.resume(first: 2)

    #expect(await table.reloads.values(count: 4).sorted() == [0, 1, 2, 3])
    #expect(held.paths.sorted() == ["0", "1"])
    #expect(pipeline.decodeCount == 2)
  }

  @Test func `Rows that scroll out of sight are canceled and make room for the next ones`() async throws {
    let pipeline = pipeline(over: held)
    let table = IconTable(urls(0..<6), pipeline: pipeline)
    table.scroll(to: 0..<3)
    _ = await held.exchanges.values(count: 3)

    table.scroll(to: 3..<6)
    #expect(pipeline.runningCount == 3)
    // The first three are held for good: these can begin only because those were canceled.
    let exchanges = await held.exchanges.values(count: 6)
    for exchange in exchanges { exchange.resume() }

    #expect(await table.reloads.values(count: 3).sorted() == [3, 4, 5])
    try await letTimePass()
    #expect(table.reloads.values.count == 3)
    #expect((0..<3).allSatisfy { table.icon(of: $0) == nil })
    #expect((3..<6).allSatisfy { table.icon(of: $0) != nil })
  }

  @Test func `Rows that come back into sight show their cached icons without another download`() async throws {
    let table = IconTable(urls(0..<6), pipeline: pipeline(over: quick))
    table.scroll(to: 0..<3)
    _ = await table.reloads.values(count: 3)
    table.scroll(to: 3..<6)
    _ = await table.reloads.values(count: 6)
    #expect((0..<3).allSatisfy { table.icon(of: $0) == nil })

    table.scroll(to: 0..<3)

    #expect(await table.reloads.values(count: 9).suffix(3).sorted() == [0, 1, 2])
    #expect((0..<3).allSatisfy { table.icon(of: $0) != nil })
    #expect(quick.requests.count == 6)
  }
}

/// The model behind a table with an icon in each row. It knows only the icons of the rows in sight.
private final class IconTable: Sendable {
  private struct State {
    var visible = 0..<0
    var tokens: [Int: ThumbnailToken] = [:]
    var icons: [Int: Thumbnail] = [:]
  }

  /// The rows that were reloaded with their icons, in order.
  let reloads = Recorder<Int>()
  /// The rows whose icons failed to load, in order.
  let failures = Recorder<Int>()
  private let urls: [String]
  private let pipeline: ThumbnailPipeline
  /// Stands for the main queue: scrolling and loading never change the table at the same time.
  private let queue = DispatchQueue(label: "table")
  private let state = Mutex(State())

  init(_ urls: [String], pipeline: ThumbnailPipeline) {
    self.urls = urls
    self.pipeline = pipeline
  }

  /// The icon of a row; nil while the row shows the placeholder.
  func icon(of row: Int) -> Thumbnail? { state.withLock { $0.icons[row] } }

  /// Makes `rows` visible. Those that leave it are canceled.
  func scroll(to rows: Range<Int>) {
    queue.sync {
      let old = state.withLock { state in
        defer { state.visible = rows }
        return state.visible
      }
      for row in old where !rows.contains(row) { leave(row) }
      for row in rows where !old.contains(row) { load(row) }
    }
  }

  private func load(_ row: Int) {
    let request = ThumbnailRequest(url: urls[row], size: 16)
    let token = pipeline.load(request, on: queue) { [weak self] in self?.show($0, in: row) }
    state.withLock { $0.tokens[row] = token }
  }

  private func leave(_ row: Int) {
    let token = state.withLock { state in
      state.icons[row] = nil
      return state.tokens.removeValue(forKey: row)
    }
    token?.cancel()
  }

  private func show(_ outcome: Result<ThumbnailSet, FetchFailure>, in row: Int) {
    switch outcome {
    case .success(let set):
      state.withLock { $0.icons[row] = set.thumbnails[0] }
      reloads.record(row)
    case .failure(let failure) where failure.code == .cancelled: break
    case .failure: failures.record(row)
    }
  }
}
