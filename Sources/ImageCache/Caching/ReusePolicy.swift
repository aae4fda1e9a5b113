import FoundationEssentials

/// Decides which sources a full cache keeps, by how often sources were used again before. A plain value.
///
/// A list that is fetched again and again is a loop, in which the least recently used source is the one that is needed
/// next. So the victim is always the least recently used source, but a new one takes its place only if it is clearly
/// more likely to be used again.
///
/// The age of a source is the number of epochs that began since its last use. In each epoch, the policy counts how many
/// sources of each age there were, those included that the cache knows but does not keep, and how many were used again.
/// From these shares follow the uses per epoch that are to be expected of a source (as in EVA: Beckmann and Sanchez,
/// HPCA 2017). Sources that are used for the first time have a separate share. `make bench-eviction` compares the
/// policy with others.
struct ReusePolicy: Codable, Hashable, Sendable {
  /// The last use of a source.
  struct Use: Hashable, Sendable {
    /// Seconds since 1970.
    var time: Int
    /// True if it was the first use that the cache knows of.
    var isFirst: Bool
  }

  /// The highest age. Older sources count as being of this age.
  static let oldest = 12
  /// A replacement costs the uses of the victim in the current epoch, so it must gain clearly more than nothing.
  private static let gain = 1.5
  /// The weight of the earlier epochs against the last one.
  private static let decay = 0.5
  /// The share of sources that are new or of age 1 while there is no experience.
  private static let prior = 0.5
  /// The share of an age that no source has had yet, as a part of that of the age before.
  private static let guess = 0.9
  /// A new run begins an epoch unless the current one has used less than one source in this many.
  private static let smallestPart = 32

  /// The times at which the last epochs began, in order, in seconds since 1970.
  private(set) var starts: [Int] = []
  /// The latest time of a recorded use.
  private var latest = 0
  /// The number of known sources that the cache does not keep.
  private(set) var ghosts = 0
  /// The start of the epoch in which some of them were forgotten.
  private var forgotten = -1
  /// The number of sources used in the current epoch.
  private var uses = 0
  /// The number of known sources by age.
  private var known = [Int](repeating: 0, count: oldest + 1)
  /// The numbers at the beginning of the current epoch, and the uses of these sources in it.
  private var ages = [Age](repeating: Age(), count: oldest + 1)
  /// The sources that were used for the first time in the last epoch.
  private var newcomers = Age()
  /// The number of sources used for the first time in the current epoch.
  private var arrivals = 0
  /// The uses per epoch to be expected of a source, by age.
  private var values: [Double] = []

  /// Creates the policy of a cache that keeps `kept` sources, whose earlier uses do not count.
  init(kept: Int) {
    known[0] = kept
    values = expectedUses()
  }
}

extension ReusePolicy {
  /// The experience with the sources of one age.
  private struct Age: Codable, Hashable {
    /// The number of sources at the beginning of the current epoch, and of those that were used in it.
    var present = 0
    var hits = 0
    /// Both in earlier epochs, weighted.
    var seen = 0.0
    var used = 0.0
    /// The part that was used in the last epoch with such sources.
    var last: Double?

    /// The part of the sources that is used in an epoch; nil without experience.
    var share: Double? { seen > 0 ? used / seen : nil }

    /// Ends an epoch, and begins the next one with `count` sources.
    mutating func turn(_ count: Int) {
      (seen, used) = (seen * decay + Double(present), used * decay + Double(hits))
      if present > 0 { last = Double(hits) / Double(present) }
      (present, hits) = (count, 0)
    }
  }
}

// MARK: Epochs

extension ReusePolicy {
  /// The number of known sources that the cache keeps.
  var kept: Int { max(0, known.reduce(0, +) - ghosts) }

  /// The time from which uses belong to the current epoch, in seconds since 1970.
  var start: Int { starts.last ?? 0 }

  /// The time to record for a use at `now`: never before the current epoch, which may have begun a second early.
  func time(_ now: Int) -> Int { max(now, start) }

  /// Begins an epoch if half as many sources as the cache keeps were used in the current one, or for a new run.
  mutating func beginEpochIfDue(isNewRun: Bool, at now: Int) {
    // A clock that ran ahead has left epochs in the future.
    starts.removeAll { $0 > now + EvictionOrder.clockTolerance }
    if latest > now + EvictionOrder.clockTolerance { latest = now }
    if uses * 2 >= max(1, kept) || isNewRun && uses * Self.smallestPart >= kept { beginEpoch(at: now) }
  }

  private mutating func beginEpoch(at now: Int) {
    // Uses of the last epoch may have the time of this second.
    starts = starts.suffix(Self.oldest - 1) + [max(now, latest + 1)]
    known[Self.oldest] += known[Self.oldest - 1]
    for age in (1..<Self.oldest).reversed() { known[age] = known[age - 1] }
    known[0] = 0
    for age in 1...Self.oldest { ages[age].turn(known[age]) }
    newcomers.turn(arrivals)
    (uses, arrivals) = (0, 0)
    values = expectedUses()
  }

  /// Returns the age of a source that was last used at `time`.
  func age(of time: Int, at now: Int) -> Int {
    time > now + EvictionOrder.clockTolerance ? Self.oldest : starts.count { $0 > time }
  }

  /// Returns the greatest number of uses per epoch that a source of each age has, over all times for which it could be
  /// kept.
  private func expectedUses() -> [Double] {
    var shares = [0.0]
    for age in 1...Self.oldest {
      let guess = age == 1 ? Self.prior : (ages[age - 1].last ?? shares[age - 1]) * Self.guess
      shares.append(ages[age].share ?? guess)
    }
    return [0]
      + (1...Self.oldest).map { age in
        var (unused, best) = (1.0, 0.0)
        for (epochs, share) in shares[age...].enumerated() {
          unused *= 1 - share
          best = max(best, (1 - unused) / Double(epochs + 1))
        }
        return best
      }
  }
}

// MARK: Uses

extension ReusePolicy {
  /// Records a use of a source that was last used at `last`; nil if the cache does not know it.
  mutating func note(_ last: Use?, at now: Int) {
    latest = max(latest, time(now))
    guard let last else {
      known[0] += 1
      uses += 1
      return arrivals += 1
    }
    let age = age(of: last.time, at: now)
    guard age > 0 else { return }
    uses += 1
    known[age] = max(0, known[age] - 1)
    known[0] += 1
    ages[age].hits = min(ages[age].hits + 1, ages[age].present)
    if age == 1, last.isFirst { newcomers.hits = min(newcomers.hits + 1, newcomers.present) }
  }

  /// Records that the cache no longer knows a source that was last used at `time`.
  mutating func forget(_ time: Int, at now: Int) {
    let age = age(of: time, at: now)
    known[age] = max(0, known[age] - 1)
  }

  /// True unless ``forgetGhosts(downTo:_:)`` was called in the current epoch.
  var mayForgetGhosts: Bool { forgotten != start }

  /// Forgets the sources that the cache does not keep, epoch by epoch, those with the earliest uses first, until there
  /// are no more than `limit`, or until all were used in the current epoch.
  ///
  /// - Parameter forget: Forgets those that were last used before a time, and returns their number.
  mutating func forgetGhosts(downTo limit: Int, _ forget: (_ time: Int) throws -> Int) rethrows {
    forgotten = start
    for (index, time) in starts.enumerated() where ghosts > limit {
      let (age, count) = (starts.count - index, try forget(time))
      known[age] = max(0, known[age] - count)
      countGhosts(-count)
    }
  }

  /// Records that the cache keeps `count` known sources less, or more if it is negative.
  mutating func countGhosts(_ count: Int) { ghosts = max(0, ghosts + count) }

  /// Returns true if a source takes the place of one that was last used at `victim`.
  ///
  /// - Parameter last: The last use of the source; nil if the cache does not know it.
  func admits(_ last: Use?, inPlaceOf victim: Int, at now: Int) -> Bool {
    let victim = age(of: victim, at: now)
    guard victim > 0 else { return false }
    guard let last else { return newcomers.share ?? Self.prior > Self.gain * values[victim] }
    let age = age(of: last.time, at: now)
    // The second use within an epoch is the best sign of more.
    return age == 0 || min(values[1], 1 / Double(age)) > Self.gain * values[victim]
  }
}

// MARK: Storing

extension ReusePolicy {
  /// Creates a policy from ``json``; nil for anything else.
  init?(json: [UInt8]) {
    guard let policy = try? JSONDecoder().decode(Self.self, from: Data(json)), policy.isValid else { return nil }
    self = policy
  }

  /// The policy as JSON.
  var json: [UInt8] { (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? [] }

  /// True if the numbers may be those of a policy. Damaged ones could overflow.
  private var isValid: Bool {
    let parts = ages + [newcomers]
    let numbers =
      starts + known + [latest, ghosts, uses, arrivals, max(0, forgotten)] + parts.flatMap { [$0.present, $0.hits] }
    let shares = values + parts.flatMap { [$0.seen, $0.used, $0.last ?? 0] }
    return known.count == Self.oldest + 1 && ages.count == known.count && values.count == known.count
      && starts.count <= Self.oldest && numbers.allSatisfy { 0..<1 << 40 ~= $0 }
      && shares.allSatisfy { 0..<0x1p40 ~= $0 } && parts.allSatisfy { $0.used <= $0.seen }
  }
}
