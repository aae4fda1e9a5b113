import Testing

@testable import ImageCache

@Suite("HTTP dates, RFC 9110 section 5.6.7")
struct HTTPDateTests {
  private static let now = 1_790_000_000  // 2026-09-21

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `All three date formats give the same second`(text: String) {
    #expect(HTTPDate.parse(text, now: Self.now) == 784_111_777)
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
    ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Thu, 31 Dec 2099 00:00:00 GMT", 4_102_358_400),
    ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
  ])
  func `Known dates give their seconds since 1970`(text: String, seconds: Int) {
    #expect(HTTPDate.parse(text, now: Self.now) == seconds)
  }

  @Test func `A two-digit year more than 50 years ahead is read as one in the past`() {
    #expect(HTTPDate.parse("Monday, 06-Jul-76 00:00:00 GMT", now: Self.now) == 3_361_219_200)
    #expect(HTTPDate.parse("Wednesday, 06-Jul-77 00:00:00 GMT", now: Self.now) == 236_995_200)
  }

  @Test(arguments: [
    "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
    "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Nov 19945 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "tomorrow",
  ])
  func `Any other text is not a date`(text: String) {
    #expect(HTTPDate.parse(text, now: Self.now) == nil)
  }
}
