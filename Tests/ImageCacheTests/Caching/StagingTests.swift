import Testing

@testable import ImageCache

@Suite("Staging")
struct StagingTests {
  private typealias Fixtures = CacheFixtures
  private let large = ThumbnailSpec(width: 256)

  private func change(_ number: Int, body: String = "body", spec: ThumbnailSpec = CacheFixtures.spec) -> Staging.Change
  {
    Staging.Change(
      source: Fixtures.source(number, body: body), thumbnails: [spec: Fixtures.thumbnail(number, spec: spec)])
  }

  @Test func `Two changes with the same bytes merge their thumbnails`() {
    let both = change(1).followed(by: change(1, spec: large))
    #expect(Set(both.thumbnails.keys) == [Fixtures.spec, large])
    #expect(!both.replacesAll)
  }

  @Test func `A change with new bytes discards the old thumbnails, including those on disk`() {
    let later = change(1).followed(by: change(1, body: "new", spec: large))
    #expect(Set(later.thumbnails.keys) == [large])
    #expect(later.replacesAll)
  }

  @Test func `A change after a removal starts over`() {
    let later = Staging.Change(source: nil).followed(by: change(1))
    #expect(later.source != nil)
    #expect(later.replacesAll)
    #expect(change(1).followed(by: Staging.Change(source: nil)).source == nil)
  }

  @Test func `A batch is bounded in entries and stays visible until it is written`() throws {
    var staging = Staging(byteLimit: 10 << 20)
    for number in 0..<100 { _ = staging.stage(change(number), for: Fixtures.key(number)) }
    #expect(staging.isBatchFull)

    let taken = staging.takeBatch()
    let batch = try #require(taken)
    #expect(batch.changes.map(\.key) == (0..<64).map(Fixtures.key))
    #expect(staging.change(for: Fixtures.key(0)) != nil)
    #expect(staging.change(for: Fixtures.key(99)) != nil)

    staging.finishBatch()
    #expect(staging.change(for: Fixtures.key(0)) == nil)

    let rest = staging.takeBatch()
    #expect(rest?.changes.count == 36)

    staging.finishBatch()
    let nothing = staging.takeBatch()

    #expect(nothing == nil)
    #expect(staging.bytes == 0)
  }

  @Test func `A batch is bounded in bytes`() {
    var staging = Staging(byteLimit: 10 << 20)
    for number in 0..<5 {
      let thumbnail = Fixtures.thumbnail(number, bytes: 500_000)
      let change = Staging.Change(source: Fixtures.source(number), thumbnails: [Fixtures.spec: thumbnail])
      _ = staging.stage(change, for: Fixtures.key(number))
    }
    let batch = staging.takeBatch()

    #expect(batch?.changes.count == 3)
  }

  @Test func `Beyond the limit writes are refused and removals are not`() {
    var staging = Staging(byteLimit: 6000)
    let isStaged = (1...3).map { staging.stage(change($0), for: Fixtures.key($0)) }
    #expect(isStaged == [true, true, false])

    let isRemovalStaged = staging.stage(Staging.Change(source: nil), for: Fixtures.key(3))
    #expect(isRemovalStaged)
    #expect(staging.change(for: Fixtures.key(1)) != nil)
  }

  @Test func `A batch that could not be written comes first again, with later changes applied on top`() throws {
    var staging = Staging(byteLimit: 10 << 20)
    for number in 0..<64 { _ = staging.stage(change(number), for: Fixtures.key(number)) }
    staging.noteUses(of: [SlotUse(slot: 7, isSource: false)])
    let taken = staging.takeBatch()
    let batch = try #require(taken)
    _ = staging.stage(change(5, spec: large), for: Fixtures.key(5))
    _ = staging.stage(change(70), for: Fixtures.key(70))
    let bytes = staging.bytes
    let lost = staging.putBack(batch) { _ in true }

    #expect(lost == 0)
    #expect(staging.bytes < bytes)
    #expect(staging.change(for: Fixtures.key(5))?.thumbnails.count == 2)

    let again = staging.takeBatch()
    #expect(again?.changes.map(\.key).first == Fixtures.key(0))
    #expect(again?.used == [SlotUse(slot: 7, isSource: false)])

    staging.finishBatch()
    let rest = staging.takeBatch()
    #expect(rest.map { Set($0.changes.map(\.key)) } == [Fixtures.key(70)] || rest?.changes.count == 1)

    staging.finishBatch()
    #expect(staging.isEmpty && staging.bytes == 0)
  }

  @Test func `A batch that failed permanently keeps only its removals, and the other changes are counted`() throws {
    var staging = Staging(byteLimit: 10 << 20)
    for number in 0..<10 { _ = staging.stage(change(number), for: Fixtures.key(number)) }
    _ = staging.stage(Staging.Change(source: nil), for: Fixtures.key(20))
    let taken = staging.takeBatch()
    let lost = staging.putBack(try #require(taken)) { $0.source == nil }

    #expect(lost == 10)
    #expect(staging.change(for: Fixtures.key(3)) == nil)

    let dropped = staging.drop { $0.source != nil }
    #expect(dropped == 0)

    let removal = staging.takeBatch()
    #expect(removal?.changes.map(\.key) == [Fixtures.key(20)])
  }

  @Test func `A change staged while an older one of its key is being written is seen on top of it`() throws {
    var staging = Staging(byteLimit: 10 << 20)
    _ = staging.stage(change(1), for: Fixtures.key(1))
    _ = staging.takeBatch()
    _ = staging.stage(change(1, spec: large), for: Fixtures.key(1))
    let seen = try #require(staging.change(for: Fixtures.key(1)))

    #expect(Set(seen.thumbnails.keys) == [Fixtures.spec, large])
  }

  @Test func `Without room for additions, a change that replaces everything still removes`() {
    let replacing = Staging.Change(source: nil).followed(by: change(2))
    var batch = Staging.ChangeSet(
      changes: [(Fixtures.key(1), change(1)), (Fixtures.key(2), replacing), (Fixtures.key(3), .init(source: nil))],
      used: [])

    #expect(batch.removeAdditions() == 2)

    #expect(batch.changes.map(\.key) == [Fixtures.key(2), Fixtures.key(3)])
    #expect(batch.changes.allSatisfy { $0.change.source == nil })
  }
}
