import TestSupport
import Testing

@testable import ImageCache

/// The lists of successive nights, with images as numbers.
enum NightlyLists: String, CaseIterable {
  case sameOrder, randomOrder, inTurn, changed, window, half

  /// The lists of `count` nights, with 2,000 images in all, or about 1,200 per night.
  func nights(_ count: Int) -> [[Int]] {
    var chance = SeededGenerator(seed: 1)
    return (0..<count).map { night in
      switch self {
      case .sameOrder: Array(0..<2000)
      case .randomOrder: Array(0..<2000).shuffled(using: &chance)
      case .inTurn: Array(night % 2 * 1000..<night % 2 * 1000 + 1000)
      case .changed: night < 3 ? Array(0..<2000) : Array(5000..<7000)
      case .window: Array(night * 200..<night * 200 + 1200)
      case .half:
        (Array(0..<400) + (400..<2000).shuffled(using: &chance).prefix(800)).shuffled(using: &chance)
      }
    }
  }

  /// Returns the hits of each night in a cache that keeps the first `capacity` images for good.
  static func fixedHits(_ nights: [[Int]], capacity: Int) -> [Int] {
    var kept: Set<Int> = []
    return nights.map { list in
      list.count { image in
        if kept.contains(image) { return true }
        if kept.count < capacity { kept.insert(image) }
        return false
      }
    }
  }
}

/// A cache of images that all have the same size, with ``ReusePolicy``. Time passes by one second per night.
private struct SimulatedCache {
  /// Nil until the cache is half full.
  private var policy: ReusePolicy?
  private let capacity: Int
  /// The last uses of the images that are kept, and those of the others that are known.
  private var (kept, ghosts): ([Int: ReusePolicy.Use], [Int: ReusePolicy.Use]) = ([:], [:])
  /// The images that are kept, the least recently used ones first. Those that are used again or evicted stay.
  private var queue: [(image: Int, use: Int)] = []
  private var lastUses: [Int: Int] = [:]
  private var (next, number) = (0, 0)
  private let beginsWithRuns: Bool

  init(capacity: Int, beginsWithRuns: Bool = true) {
    (self.capacity, self.beginsWithRuns) = (capacity, beginsWithRuns)
  }

  /// Returns the number of hits among the requests of one run.
  mutating func run(_ images: [Int], at now: Int) -> Int {
    var isNewRun = beginsWithRuns
    return images.count { image in
      if kept.count * 2 >= capacity, policy == nil { policy = ReusePolicy(kept: kept.count) }
      policy?.beginEpochIfDue(isNewRun: isNewRun, at: now)
      isNewRun = false
      return request(image, at: now)
    }
  }

  private mutating func request(_ image: Int, at now: Int) -> Bool {
    let (isHit, last) = (kept[image] != nil, kept[image] ?? ghosts[image])
    let use = ReusePolicy.Use(time: policy?.time(now) ?? now, isFirst: last == nil)
    policy?.note(last, at: now)
    if !isHit, kept.count == capacity {
      guard let admits = policy?.admits(last, inPlaceOf: victim.time, at: now), admits else {
        policy?.countGhosts(ghosts[image] == nil ? 1 : 0)
        ghosts[image] = use
        return false
      }
      evict()
    }
    if ghosts.removeValue(forKey: image) != nil { policy?.countGhosts(-1) }
    if last.map({ $0.time < policy?.start ?? 0 }) ?? true { kept[image] = use }
    number += 1
    lastUses[image] = number
    queue.append((image, number))
    return isHit
  }

  private var victim: ReusePolicy.Use {
    mutating get {
      while lastUses[queue[next].image] != queue[next].use { next += 1 }
      return kept[queue[next].image] ?? ReusePolicy.Use(time: 0, isFirst: false)
    }
  }

  private mutating func evict() {
    let use = victim
    let image = queue[next].image
    kept[image] = nil
    lastUses[image] = nil
    ghosts[image] = use
    policy?.countGhosts(1)
  }
}

@Suite("Which sources a full cache keeps")
struct ReusePolicyTests {
  private func hits(_ lists: NightlyLists, part: Int, nights count: Int, beginsWithRuns: Bool = true) -> [Int] {
    var cache = SimulatedCache(capacity: 2000 * part / 100, beginsWithRuns: beginsWithRuns)
    return lists.nights(count).enumerated().map { cache.run($1, at: 1_790_000_000 + 86_400 * $0) }
  }

  @Test(arguments: [NightlyLists.sameOrder, .randomOrder], [80, 50, 25])
  func `A list that comes back every night has hits in proportion to what fits`(lists: NightlyLists, part: Int) {
    for hits in hits(lists, part: part, nights: 6).dropFirst() { #expect(hits * 10 >= 9 * 2000 * part / 100) }
    // In one process that serves all nights, a night is not known as a run.
    for hits in hits(lists, part: part, nights: 6, beginsWithRuns: false).dropFirst() {
      #expect(hits * 10 >= 9 * 2000 * part / 100)
    }
  }

  @Test(arguments: [80, 50, 25])
  func `Two lists in turn have the hits of a fixed subset`(part: Int) {
    let nights = NightlyLists.inTurn.nights(8)
    let fixed = NightlyLists.fixedHits(nights, capacity: 2000 * part / 100)
    for (hits, fixed) in zip(hits(.inTurn, part: part, nights: 8), fixed) { #expect(hits * 10 >= fixed * 9) }
  }

  @Test(arguments: [80, 50, 25])
  func `A list that replaces another one has its share from the third night on`(part: Int) {
    for hits in hits(.changed, part: part, nights: 9)[5...] { #expect(hits * 10 >= 9 * 2000 * part / 100) }
  }

  @Test(arguments: [NightlyLists.window, .half], [80, 50, 25])
  func `Lists that overlap have the hits of a fixed subset at least`(lists: NightlyLists, part: Int) {
    let fixed = NightlyLists.fixedHits(lists.nights(8), capacity: 2000 * part / 100)
    let adapted = hits(lists, part: part, nights: 8)
    // The images that come back by chance may not be those that were kept.
    for (hits, fixed) in zip(adapted, fixed) { #expect(hits * 10 >= fixed * 9) }
    let (sum, sumOfFixed) = (adapted.reduce(0, +), fixed.reduce(0, +))
    #expect(lists == .window ? sum * 10 > sumOfFixed * 12 : sum * 100 >= sumOfFixed * 98)
  }

  @Test func `A single request is no run that makes the others older`() {
    var policy = ReusePolicy(kept: 0)
    policy.beginEpochIfDue(isNewRun: true, at: 1000)
    for _ in 0..<1000 { policy.note(nil, at: 1000) }
    policy.beginEpochIfDue(isNewRun: true, at: 2000)
    let begun = policy.start
    for run in 1...20 {
      policy.note(ReusePolicy.Use(time: 1000, isFirst: true), at: 2000 + run)
      policy.beginEpochIfDue(isNewRun: true, at: 2000 + run)
    }
    #expect(begun == 2000 && policy.start == begun)
  }

  @Test func `Runs within one second have separate epochs`() {
    var policy = ReusePolicy(kept: 0)
    for _ in 0..<5 {
      policy.beginEpochIfDue(isNewRun: true, at: 1000)
      policy.note(nil, at: 1000)
    }
    #expect(policy.starts == [1000, 1001, 1002, 1003, 1004])
    #expect(policy.time(1000) == 1004)
    #expect(policy.age(of: 1001, at: 1000) == 3)
  }

  @Test func `A clock that ran ahead leaves no epoch in the future`() {
    var policy = ReusePolicy(kept: 0)
    for now in [1_000_000, 90_000_000, 1_000_100, 1_000_200] {
      policy.beginEpochIfDue(isNewRun: true, at: now)
      policy.note(nil, at: now)
    }
    #expect(policy.starts == [1_000_000, 1_000_101, 1_000_200])
    #expect(policy.age(of: 90_000_000, at: 1_000_200) == ReusePolicy.oldest)
  }

  @Test func `The policy survives being stored`() throws {
    var policy = ReusePolicy(kept: 100)
    for now in 1...20 {
      policy.beginEpochIfDue(isNewRun: true, at: now)
      for image in 0..<50 { policy.note(image < 25 ? nil : .init(time: now - 1, isFirst: true), at: now) }
    }
    #expect(ReusePolicy(json: policy.json) == policy)
  }

  @Test(arguments: [
    "", "{}", "[1]", #"{"known":[1]}"#, String(repeating: "[", count: 100_000),
  ]) func `Damaged experience is ignored`(text: String) { #expect(ReusePolicy(json: Array(text.utf8)) == nil) }

  @Test func `Numbers out of range are damage`() throws {
    let text = String(decoding: ReusePolicy(kept: 77).json, as: UTF8.self)
    for number in ["-1", "9223372036854775807", "1e300"] {
      let damaged = text.replacing("77", with: number)
      #expect(damaged != text && ReusePolicy(json: Array(damaged.utf8)) == nil)
    }
  }
}
