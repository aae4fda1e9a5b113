import TestSupport
import Testing

@testable public import ImageCache

extension Int: ScatteredKey {
  public var scatteredBits: UInt64 { UInt64(bitPattern: Int64(self)) &* 0x9e37_79b9_7f4a_7c15 }
}

@Suite("The index of slots")
struct SlotIndexTests {
  /// An index with the keys of its slots, checked against a dictionary.
  private struct Pair {
    let bits: @Sendable (Int) -> UInt64
    var index = SlotIndex()
    var model: [Int: Int32] = [:]
    var keys: [Int32: Int] = [:]

    mutating func insert(_ key: Int, _ slot: Int32) {
      index.insert(slot, for: bits(key))
      (model[key], keys[slot]) = (slot, key)
    }

    mutating func remove(_ key: Int) -> Int32? {
      model[key] = nil
      return index.remove(bits(key)) { keys[$0] == key }
    }

    func slot(of key: Int) -> Int32? { index.slot(of: bits(key)) { keys[$0] == key } }
  }

  /// Hashes that spread keys, that fall into a few places, that are all the same, and that wrap around at the end.
  static let hashes: [@Sendable (Int) -> UInt64] = [
    { $0.scatteredBits }, { UInt64($0 % 5) << 32 }, { _ in 7 << 32 }, { UInt64(0xffff_fff0 + $0 % 16) << 32 },
  ]

  @Test(arguments: hashes.indices, 0..<4)
  func `Any order of changes leaves the contents of a dictionary`(hash: Int, seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var pair = Pair(bits: Self.hashes[hash])
    for slot in 0..<Int32(2000) {
      let key = Int.random(in: 0..<60, using: &generator)
      let known = pair.model[key]
      #expect(pair.slot(of: key) == known)
      if known == nil { pair.insert(key, slot) } else { #expect(pair.remove(key) == known) }
      #expect(pair.index.count == pair.model.count)
    }
    for key in 0..<60 { #expect(pair.slot(of: key) == pair.model[key]) }
  }

  @Test func `The index grows with its contents`() {
    var pair = Pair(bits: Self.hashes[0])
    for key in 0..<10_000 { pair.insert(key, Int32(key)) }
    #expect((0..<10_000).allSatisfy { pair.slot(of: $0) == Int32($0) })
    #expect(pair.slot(of: 10_000) == nil)
  }
}
