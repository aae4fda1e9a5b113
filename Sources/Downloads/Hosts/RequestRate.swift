/// A maximum rate of requests: the maximum number in any period of a given length.
///
/// ```swift
/// var configuration = Downloader.Configuration()
/// configuration.rate = RequestRate("45/m")
/// ```
public struct RequestRate: Hashable, Sendable {
  /// The maximum number of requests in any period: 1...1,000,000,000; a value outside is clamped.
  public var count: Int { didSet { count = count.clamped(to: Self.counts) } }
  /// The length of the period: 1 ms to 1,000 hours; a value outside is clamped.
  public var period: Duration { didSet { period = period.clamped(to: Self.periods) } }

  static let counts = 1...1_000_000_000
  static let periods: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600_000)

  /// Creates a rate of `count` requests in any `period`.
  public init(count: Int, per period: Duration) {
    self.count = count.clamped(to: Self.counts)
    self.period = period.clamped(to: Self.periods)
  }

  /// Parses a number and a unit of time: `5/s`, `45/m`, `100/h`, `0.5/s`. The units are also called `sec`, `second`,
  /// `min`, `minute` and `hour`. Returns nil for any other text.
  ///
  /// The number is 0.001 to 1,000,000, with at most three digits after the decimal point. A fraction lengthens the
  /// period: `0.5/s` is 1 request in 2 s, and `2.5/m` is 5 requests in 2 minutes.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = Self.unit(parts[1]),
      let thousandths = Self.thousandths(parts[0]), (1...1_000_000_000).contains(thousandths)
    else { return nil }
    let divisor = Self.greatestCommonDivisor(thousandths, 1000)
    self.init(count: thousandths / divisor, per: .seconds(unit.seconds * (1000 / divisor)))
  }

  /// The units, longest first.
  private static let units = [(name: "h", seconds: 3600), (name: "m", seconds: 60), (name: "s", seconds: 1)]

  private static func unit(_ name: Substring) -> (name: String, seconds: Int)? {
    let names = ["s": "s", "sec": "s", "second": "s", "m": "m", "min": "m", "minute": "m", "h": "h", "hour": "h"]
    return units.first { $0.name == names[String(name)] }
  }

  /// Returns the decimal number in `text` times 1000; nil if it is not a number, or has more than three decimals.
  private static func thousandths(_ text: Substring) -> Int? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? parts[1] : "0"
    let digits = [parts[0], decimals]
    guard parts.count <= 2, (1...3).contains(decimals.count), (1...7).contains(parts[0].count),
      digits.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(parts[0] + decimals + String(repeating: "0", count: 3 - decimals.count))
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }
}

extension RequestRate: CustomStringConvertible {
  /// The rate in the form that ``init(_:)`` parses, such as `0.5/s`. A rate that has no such form is described in
  /// words, such as `1 per 7.0 seconds`.
  public var description: String {
    for unit in Self.units {
      let multiple = period / .seconds(unit.seconds)
      // The period of a parsed rate is its unit times a divisor of 1000, which no other unit divides.
      guard multiple >= 1, let factor = Int(exactly: multiple), 1000 % factor == 0 else { continue }
      return "\(Self.decimal(thousandths: count * (1000 / factor)))/\(unit.name)"
    }
    return "\(count) per \(period)"
  }

  /// Returns `thousandths` divided by 1000, without zeros at the end: `5`, `0.5`.
  private static func decimal(thousandths: Int) -> String {
    let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
    guard rest > 0 else { return "\(whole)" }
    var decimals = String(String(rest + 1000).dropFirst())
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }
}

/// Spaces the requests to one host evenly, so that no more than the rate allows start in any period. A plain value;
/// times are those of the injected clock.
struct RateLimiter: Sendable {
  /// Requests take different times to reach the server. Without a margin, it could see one request too many in a
  /// period.
  private static let margin = Duration.milliseconds(50)

  private let interval: Duration
  /// The earliest time for the next request.
  private(set) var next = Duration.zero

  init(_ rate: RequestRate) { interval = (rate.period + Self.margin) / rate.count }

  /// Records a request.
  mutating func record(at now: Duration) { next = now + interval }
}
