import BatchFetch
import DownloadsTesting
import Testing

@testable import ScrollingTable

/// Tests a view model together with the pipeline, on responses that the test sends.
@MainActor @Suite(.timeLimit(.minutes(1))) struct IconListTests {
  private let transport = StubTransport()
  private let pipeline: ThumbnailPipeline
  private let list: IconList
  private let changes: AsyncStream<Int>
  private let image = bitmap(width: 96, height: 24)

  init() {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads.progressInterval = .zero
    pipeline = ThumbnailPipeline(configuration, transport: transport)
    let rows = (0..<8).map { IconRow(name: "App \($0)", icon: "http://icons.example/\($0)") }
    list = IconList(rows, pipeline: pipeline)
    let (changes, change) = AsyncStream.makeStream(of: Int.self)
    list.rowChanged = { change.yield($0) }
    self.changes = changes
  }

  private func url(_ row: Int) -> String { list.rows[row].icon }

  /// Returns the transfer for the icon of a row, as soon as it has begun.
  private func transfer(for row: Int) async throws -> StubTransfer {
    while let transfer = await transport.nextTransfer() { if transfer.url == url(row) { return transfer } }
    throw CancellationError()
  }

  /// Returns when the row has this text.
  private func wait(for row: Int, toBe text: String) async {
    var changes = changes.makeAsyncIterator()
    while list.rows[row].text != text, await changes.next() != nil {}
  }

  @Test func `An icon is shown when it is loaded`() async throws {
    list.show(0..<1)

    let transfer = try await transfer(for: 0)
    transfer.respond(.ok, length: image.count)
    transfer.send(image)
    transfer.end()

    await wait(for: 0, toBe: "App 0: 48x12 of 96x24, network")
  }

  @Test func `A row whose icon is missing shows the failure`() async throws {
    list.show(0..<1)

    let transfer = try await transfer(for: 0)
    transfer.respond(.notFound, length: 0)
    transfer.end()

    await wait(for: 0, toBe: "App 0: http_404")
  }

  @Test func `A row shows the progress of its download`() async throws {
    list.show(0..<1)
    #expect(list.rows[0].text == "App 0: …")

    let transfer = try await transfer(for: 0)
    transfer.respond(.ok, length: image.count)
    transfer.send(image.prefix(image.count / 2))

    await wait(for: 0, toBe: "App 0: 50 %")
  }

  @Test func `The download for a row that scrolls away is canceled`() async throws {
    list.show(0..<1)
    let transfer = try await transfer(for: 0)

    list.show(6..<7)

    await transfer.isCanceled()
    #expect(list.rows[0].text == "App 0")
  }

  @Test func `The icons of visible rows are loaded before those of the rows near them`() async throws {
    pipeline.downloader.isSuspended = true
    list.show(2..<4)
    list.show(3..<5)
    var waiting = Set((1...6).map(url))
    for await url in transport.preparations {
      waiting.remove(url)
      if waiting.isEmpty { break }
    }

    pipeline.downloader.isSuspended = false

    var begun: [String] = []
    while begun.count < 6, let transfer = await transport.nextTransfer() { begun.append(transfer.url) }
    #expect(Set(begun[..<2]) == [url(3), url(4)])
    #expect(Set(begun) == Set((1...6).map(url)))
  }
}
