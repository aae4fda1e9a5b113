import DownloadSupport
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct ByteBudgetTests {
  @Test func `A budget suspends downloads above its limit and resumes them at the limit`() async {
    let changes = Recorder<Bool>()
    let budget = ByteBudget(limit: 100) { changes.record($0) }

    budget.hold(60)
    budget.hold(40)
    budget.hold(1)
    #expect(await changes.values(count: 1) == [true])

    budget.hold(500)
    budget.release(500)
    budget.release(1)
    #expect(await changes.values(count: 2) == [true, false])

    budget.release(100)
    budget.hold(101)
    #expect(await changes.values(count: 3) == [true, false, true])
  }

  @Test func `Bodies of one host above its share hold back this host, and no other`() async {
    let (changes, holds) = (Recorder<Bool>(), Recorder<String>())
    let budget = ByteBudget(limit: 100) {
      holds.record("\($0) \($1)")
    } setSuspended: {
      changes.record($0)
    }

    budget.hold(75, of: "a")
    budget.hold(500, of: "a")
    budget.hold(25, of: "b")
    #expect(await holds.values(count: 1) == ["a true"])

    budget.release(500, of: "a")
    #expect(await holds.values(count: 2) == ["a true", "a false"])
    #expect(changes.values.isEmpty)
    budget.hold(1, of: "b")
    #expect(await changes.values(count: 1) == [true])
    for (host, bytes) in [("a", 75), ("b", 26)] { budget.release(bytes, of: host) }
    #expect(await changes.values(count: 2) == [true, false])
  }

  @Test func `A host whose bodies wait to be rendered keeps no other host from its transfers`() async {
    let body = SampleImage.png(width: 64, height: 64)
    let transport = ScriptedTransport { _, _ in .response(body) }
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    configuration.renderThreads = 1
    configuration.maxBytesInHand = 8 * body.count
    let (pipeline, gate) = (ThumbnailPipeline(configuration, transport: transport), Gate())
    await pipeline.context.renders.occupy(1, until: gate)
    let ends = Recorder<Bool>()
    func load(_ url: String) { pipeline.load(ThumbnailRequest(url: url, size: 4)) { ends.record($0.failure == nil) } }

    for number in 0..<40 { load("http://slow.test/\(number)") }
    await eventually { pipeline.context.renders.waitingCount >= 7 }
    for number in 0..<2 { load("http://b\(number).test/") }

    await eventually { transport.requests.contains { $0.source.host == "b1.test" } }
    gate.open()
    #expect(await ends.values(count: 42).allSatisfy { $0 })
  }

  @Test func `A suspended budget admits nothing, whatever room there is, until it is resumed`() async {
    let (changes, admitted) = (Recorder<Bool>(), Recorder<String>())
    let budget = ByteBudget(limit: 100) { changes.record($0) }

    budget.suspend()
    budget.suspend()
    budget.hold(10, whenThereIsRoom: .normal) { admitted.record("a") }
    #expect(await changes.values(count: 1) == [true])
    #expect(admitted.values.isEmpty)

    budget.hold(101)
    budget.resume()
    budget.resume()
    #expect(admitted.values.isEmpty)

    budget.release(101)
    #expect(await changes.values(count: 2) == [true, false])
    #expect(admitted.values == ["a"])
  }

  @Test func `A suspended pipeline begins no download, and begins it when it is resumed`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    pipeline.suspend()
    await eventually { pipeline.context.downloader.context.queue.isSuspended }
    let outcome = Recorder<Bool>()

    pipeline.load(fixture.request("/a")) { outcome.record($0.failure == nil) }
    await eventually { pipeline.context.downloader.context.queue.ticketCount == 1 }
    #expect(fixture.server.requests.isEmpty)
    pipeline.resume()

    #expect(await outcome.values(count: 1) == [true])
  }

  @Test func `Bodies that wait to be rendered hold back further downloads, and all finish in the end`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline(change: {
      $0.maxBytesInHand = 1
      $0.renderThreads = 1
    })
    let requests = (0..<50).map { fixture.request("/\($0)") }
    var finished = 0

    for await item in Batch(requests, over: pipeline) where item.outcome.failure == nil { finished += 1 }

    #expect(finished == 50)

    await eventually { !pipeline.context.downloader.context.queue.isSuspended }
  }

  @Test func `Reads wait for room, by priority, and in order if it is equal`() {
    let budget = ByteBudget(limit: 100) { _ in }
    let admitted = Recorder<String>()

    for (bytes, priority, name) in [
      (100, Priority.low, "a"), (1, .low, "b"), (60, .normal, "c"), (60, .high, "d"),
      (60, .normal, "e"),
    ] {
      budget.hold(bytes, whenThereIsRoom: priority) { admitted.record(name) }
    }
    #expect(admitted.values == ["a", "b"])

    budget.release(1)
    #expect(admitted.values == ["a", "b", "d"])

    budget.release(100)
    #expect(admitted.values == ["a", "b", "d", "c"])

    budget.release(60)
    #expect(admitted.values == ["a", "b", "d", "c", "e"])
    #expect(budget.waitingCount == 0)
  }

  @Test func `Reads that wait can change their priority, and leave when they are canceled`() {
    let budget = ByteBudget(limit: 0) { _ in }
    let admitted = Recorder<String>()
    budget.hold(1)

    let handles = [("a", Priority.normal), ("b", .low), ("c", .normal), ("d", .high)].map { name, priority in
      budget.hold(1, whenThereIsRoom: priority) { admitted.record(name) }
    }
    handles[1].setPriority(.high)
    handles[3].setPriority(.low)
    handles[0].cancel()
    #expect(budget.waitingCount == 3 && admitted.values.isEmpty)

    for _ in 0..<4 { budget.release(1) }
    #expect(admitted.values == ["b", "c", "d"])
    // Too late: the bytes of what was admitted are held, or released by others.
    for handle in handles { handle.cancel() }
    budget.hold(1, whenThereIsRoom: .low) { admitted.record("e") }
    #expect(admitted.values == ["b", "c", "d", "e"])
  }

  @Test func `One read of a high priority overtakes ten thousand that wait`() {
    let budget = ByteBudget(limit: 0) { _ in }
    let admitted = Recorder<Int>()
    budget.hold(1)

    let handles = (0..<10_000).map { number in
      budget.hold(1, whenThereIsRoom: .low) { admitted.record(number) }
    }
    budget.hold(1, whenThereIsRoom: .high) { admitted.record(10_000) }
    handles[9000].setPriority(.high)
    for _ in 0..<10_001 { budget.release(1) }

    #expect(admitted.values == [10_000, 9000] + (0..<9000) + (9001..<10_000))
  }

  @Test(arguments: [0, -1, Int.min, .max]) func `A budget of any limit has room for one at a time`(limit: Int) {
    let budget = ByteBudget(limit: limit) { _ in }
    let admitted = Counter()

    for _ in 0..<10 { budget.hold(5, whenThereIsRoom: .normal) { admitted.next() } }
    for _ in 0..<10 { budget.release(5) }

    #expect(admitted.value == 10)
  }

  @Test func `Kept originals are read only while there is room for them`() async throws {
    let count = 300
    let fixture = try PipelineFixture { _ in .image() }
    let first = fixture.pipeline(change: { $0.cache.originals = .standard })
    var bytes = 0

    for await item in Batch((0..<count).map { fixture.request("/\($0)") }, over: first) {
      bytes = try item.outcome.get().sourceBytes
    }
    await first.flush()
    // Another run that needs another size.
    let pipeline = fixture.pipeline(change: {
      $0.cache.originals = .standard
      $0.maxBytesInHand = 10 * bytes
      $0.renderThreads = 1
    })
    let requests = (0..<count).map { fixture.request("/\($0)", size: 9) }
    let gate = Gate()
    await pipeline.context.renders.occupy(1, until: gate)
    let outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>()
    let tokens = requests.map { request in pipeline.load(request) { outcomes.record($0) } }
    // The renders that have room, and one more.
    await eventually { pipeline.context.budget.waitingCount + pipeline.context.renders.waitingCount == count }
    #expect(pipeline.context.renders.waitingCount == 11)

    // Originals of loads that are canceled while they wait are not read, and hold up no other load.
    for token in tokens[100..<200] { token.cancel() }
    gate.open()
    let ends = await outcomes.values(count: count)
    #expect(ends.filter { $0.failure == .cancelled }.count == 100)
    #expect(ends.filter { (try? $0.get())?.origin == .disk }.count == 200)

    await eventually { pipeline.context.budget.waitingCount == 0 && pipeline.runningCount == 0 }
    #expect(outcomes.values.count == count && pipeline.decodeCount == 200)
    #expect(fixture.server.requests.count == count)
  }
}
