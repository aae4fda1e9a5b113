import Testing

@testable import Downloads

@Suite struct RequestRateTests {
  @Test(arguments: [
    ("5/s", 5, 1), ("45/m", 45, 60), ("100/h", 100, 3600), ("60/m", 60, 60), ("1/s", 1, 1), ("0.5/s", 1, 2),
    ("2.5/m", 5, 120), ("0.25/h", 1, 14_400), ("0.001/h", 1, 3_600_000), ("1000000/s", 1_000_000, 1),
    ("999999.999/s", 999_999_999, 1000), ("0.125/m", 1, 480),
  ])
  func `A rate is parsed exactly, and printed as it was written`(text: String, count: Int, seconds: Int) throws {
    let rate = try #require(RequestRate(text))

    #expect(rate == RequestRate(count: count, per: .seconds(seconds)))
    #expect(rate.description == text)
  }

  @Test(arguments: [
    ("5/sec", "5/s"), ("5/second", "5/s"), ("45/min", "45/m"), ("45/minute", "45/m"), ("9/hour", "9/h"),
  ])
  func `The units have longer names, too`(text: String, same: String) {
    #expect(RequestRate(text) != nil && RequestRate(text) == RequestRate(same))
  }

  @Test(arguments: [("005/s", "5/s"), ("5.0/s", "5/s"), ("0.50/m", "0.5/m"), ("1.500/h", "1.5/h")])
  func `Zeros without meaning are not printed`(text: String, printed: String) {
    #expect(RequestRate(text)?.description == printed)
  }

  @Test(arguments: [
    "", "5", "5/", "/s", "5/x", "5/S", "5/secs", "5/s/m", "5 /s", " 5/s", "5/s ", "0/s", "0.0/s", "0.0001/s", "-1/s",
    "+5/s", ".5/s", "5./s", "1.2345/s", "1.2.3/s", "1e3/s", "1000001/s", "1000000.001/s", "99999999999999999999/s",
    "５/s", "nan/s", "inf/s", "5//s", "0x5/s",
  ])
  func `Any other text is not a rate`(text: String) {
    #expect(RequestRate(text) == nil)
  }

  @Test func `Values out of range are clamped`() {
    var rate = RequestRate(count: 0, per: .zero)
    #expect(rate.count == 1 && rate.period == .milliseconds(1))

    rate.count = .max
    rate.period = .seconds(Int64.max)
    #expect(rate.count == 1_000_000_000 && rate.period == .seconds(3_600_000))
  }

  @Test func `A rate that cannot be written is described in words`() {
    #expect(RequestRate(count: 1, per: .seconds(7)).description == "1 per 7.0 seconds")
  }
}
