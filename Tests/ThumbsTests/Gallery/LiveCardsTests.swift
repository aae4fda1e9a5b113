import Testing

@testable import thumbs

@Suite struct LiveCardsTests {
  private func row(_ index: Int) -> ManifestRow { ManifestRow(index: index, url: "http://a.example/\(index).png") }

  @Test func `The cards are in the order of the rows, finished or not`() {
    var cards = LiveCards()
    for index in [0, 1, 3, 2] { cards.expect(row(index)) }
    cards.finish([1], index: 2)
    cards.finish([4], index: 4)

    #expect(cards.take() == [.waiting(row(0)), .waiting(row(1)), .finished([1]), .waiting(row(3)), .finished([4])])
    #expect(!cards.isPartial)
  }

  @Test func `A row that is read after it finished stays finished`() {
    var cards = LiveCards()
    cards.finish([1], index: 0)
    cards.expect(row(0))

    #expect(cards.take() == [.finished([1])])
  }

  @Test func `Cards have changed until they are taken`() {
    var cards = LiveCards()
    #expect(!cards.isChanged)
    cards.expect(row(0))
    #expect(cards.isChanged)
    _ = cards.take()
    #expect(!cards.isChanged)
    cards.finish([1], index: 0)
    #expect(cards.isChanged)
  }

  @Test func `Of many rows, those stay that finished last`() {
    var cards = LiveCards()
    for index in 0..<100_000 { cards.expect(row(index)) }
    #expect(cards.count == LiveCards.countLimit)
    #expect(cards.isPartial)

    for index in (0..<100_000).reversed() {
      cards.finish([UInt8(index & 0xFF)], index: index)
      #expect(cards.count <= LiveCards.countLimit)
    }
    #expect(cards.take() == (0..<LiveCards.countLimit).map { .finished([UInt8($0 & 0xFF)]) })
  }

  @Test func `Large cards are bounded by their size, and the last one is always there`() {
    var cards = LiveCards()
    for index in 0..<100 {
      cards.finish([UInt8](repeating: 0, count: 1 << 20), index: index)
    }
    #expect(cards.count == 4 && cards.byteCount == LiveCards.byteLimit)

    cards.finish([UInt8](repeating: 0, count: 2 * LiveCards.byteLimit), index: 7)
    #expect(cards.count == 1)

    cards.finish([1], index: 8)
    #expect(cards.count == 1 && cards.byteCount == 1)
  }
}
