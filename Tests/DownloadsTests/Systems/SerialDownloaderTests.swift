import DownloadSupport
import Downloads
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The serial downloader: one connection, and items that have priorities, depend on one another, and are named by
/// configuration files. Observers, which are held weakly, follow it.
@Suite(.timeLimit(.minutes(20))) struct SerialDownloaderTests {
  private let held = ScriptedTransport { _, _ in [.hold] + .response([1]) }

  @Test func `Items run one at a time, by priority, but none before the item that it depends on`() async throws {
    let downloader = Downloader(.serial, transport: held)
    _ = downloader.start(try DownloadRequest("first"))
    _ = await held.exchanges.values(count: 1)
    _ = downloader.start(try DownloadRequest("low", priority: .low))
    let config = downloader.start(try DownloadRequest("config", priority: .low))
    _ = downloader.start(try DownloadRequest("package", priority: .high), after: [config.token])
    _ = downloader.start(try DownloadRequest("other"))

    await held.resume(first: 5)
    await downloader.waitUntilFinished()

    // Without the dependency, "package" would be second. "config" would be last if that priority did not pass to it.
    #expect(held.paths.filter { $0 != "package" } == ["first", "config", "other", "low"])
    #expect(held.paths.dropFirst(2).contains("package"))
    #expect(held.load.peak == 1)
  }

  /// The request for the package that a configuration file, a property list, names.
  private func package(namedBy configs: Downloader.Outcomes) throws(FetchFailure) -> DownloadRequest {
    let file = Data(try configs.first?.get().body ?? [])
    guard let names = try? PropertyListDecoder().decode([String: String].self, from: file), let url = names["package"]
    else { throw FetchFailure(.badField, "The configuration file names no package.") }
    return DownloadRequest(source: try SourceURL(url))
  }

  @Test func `A package is downloaded from the URL that its configuration file names`() async throws {
    let file = try PropertyListEncoder().encode(["package": "http://packages.test/app.pkg"])
    let transport = ScriptedTransport { request, _ in
      request.source.lastPathComponent == "config.plist" ? [.hold] + .response(Array(file)) : .response([1, 2, 3])
    }
    let downloader = Downloader(.serial, transport: transport)
    let (config, outcome) = (downloader.start(try DownloadRequest("config.plist")), Recorder<Outcome>())
    downloader.download(after: [config.token]) { outcomes throws(FetchFailure) in
      try package(namedBy: outcomes)
    } completion: {
      outcome.record($0)
    }

    await transport.resume(first: 1)

    #expect(await outcome.only().body == [1, 2, 3])
    #expect(
      transport.requests.map(\.source.description) == ["http://a.test/config.plist", "http://packages.test/app.pkg"])
  }

  @Test func `A configuration file that is missing fails its package and no other item`() async throws {
    let transport = ScriptedTransport { request, _ in
      .response([1], status: request.source.lastPathComponent == "config.plist" ? 404 : 200)
    }
    let downloader = Downloader(.serial, transport: transport)
    let (config, outcome) = (downloader.start(try DownloadRequest("config.plist")), Recorder<Outcome>())
    downloader.download(after: [config.token]) { outcomes throws(FetchFailure) in
      try package(namedBy: outcomes)
    } completion: {
      outcome.record($0)
    }
    let other = downloader.start(try DownloadRequest("other"), after: [config.token])

    #expect(await outcome.only().failure?.code == .http(404))
    #expect(await other.outcome.only().body == [1])
    #expect(transport.paths == ["config.plist", "other"])
  }

  @Test func `An observer registered twice gets each event once`() async throws {
    let transport = ScriptedTransport { _, _ in .response([1]) }
    let downloader = Downloader(.serial, transport: transport)
    let observer = RecordingObserver()
    downloader.addObserver(observer)
    downloader.addObserver(observer)
    var expected: [String] = []

    for index in 0..<20 {
      _ = try await downloader.download(DownloadRequest("\(index)"))
      let source = "http://a.test/\(index)"
      expected += ["started \(source)", "\(source): 1", "finished \(source)"]
      _ = await observer.events.values(count: expected.count)
    }

    #expect(observer.events.values == expected)
    #expect(observer.isBalanced)
  }

  @Test func `A released observer gets no more events and is not kept alive`() async throws {
    let transport = ScriptedTransport { _, _ in [.head(200, [:]), .bytes([1]), .hold, .bytes([2]), .end] }
    let downloader = Downloader(.serial, transport: transport)
    let staying = RecordingObserver()
    var observer: RecordingObserver? = RecordingObserver()
    weak let released = observer
    let events = try #require(observer).events
    downloader.addObserver(try #require(observer))
    downloader.addObserver(staying)
    _ = downloader.start(try DownloadRequest("a"))
    #expect(await events.values(count: 2) == ["started http://a.test/a", "http://a.test/a: 1"])

    observer = nil
    await eventually { released == nil }
    await transport.resume(first: 1)

    await staying.waitForEvents { _, finished in finished == 1 }
    #expect(staying.events.values.last == "finished http://a.test/a")
    #expect(events.values.count == 2)
  }
}
