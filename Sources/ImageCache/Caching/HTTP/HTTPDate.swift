/// A parser for HTTP dates (RFC 9110, section 5.6.7). Times are seconds since 1970.
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses any of the three date formats; nil if `text` has none of them.
  ///
  /// - Parameter now: Seconds since 1970. Determines the century of a two-digit year: a date more than 50 years in the
  ///   future is read as one in the past.
  static func parse(_ text: String, now: Int) -> Int? {
    var text = text
    return text.withUTF8 { parse($0, now: now) }
  }

  /// A slice of the text's bytes, over which iterating is much faster than over characters.
  private typealias Word = Slice<UnsafeBufferPointer<UInt8>>

  private static func parse(_ text: UnsafeBufferPointer<UInt8>, now: Int) -> Int? {
    let words = text.split {
      $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-")
    }
    // `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`
    if words.count == 6, words[5].elementsEqual("GMT".utf8) {
      return seconds(year: year(words[3], now: now), month: words[2], day: words[1], time: words[4])
    }
    // `Sun Nov  6 08:49:37 1994`
    if words.count == 5, words[4].count == 4 {
      return seconds(year: number(words[4]), month: words[1], day: words[2], time: words[3])
    }
    return nil
  }

  /// Parses one to four digits; nil for anything else.
  private static func number(_ text: Word) -> Int? {
    guard (1...4).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func year(_ text: Word, now: Int) -> Int? {
    guard let year = number(text) else { return nil }
    switch text.count {
    case 4: return year
    case 2:
      let current = civilYear(ofDay: now / 86400)
      let guess = current - current % 100 + year
      return guess > current + 50 ? guess - 100 : guess
    default: return nil
    }
  }

  private static func seconds(year: Int?, month: Word, day: Word, time: Word) -> Int? {
    let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(number)
    guard let year, (1583...9999).contains(year),
      let month = months.firstIndex(where: { month.elementsEqual($0.utf8) }),
      let day = number(day), (1...daysInMonth(month + 1, of: year)).contains(day),
      clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return dayNumber(year: year, month: month + 1, day: day) * 86400 + hour * 3600 + minute * 60 + second
  }

  private static func daysInMonth(_ month: Int, of year: Int) -> Int {
    let next = month == 12 ? (year + 1, 1) : (year, month + 1)
    return dayNumber(year: next.0, month: next.1, day: 1) - dayNumber(year: year, month: month, day: 1)
  }

  /// Returns the days since 1970-01-01 in the Gregorian calendar. Years start in March, so that the leap day comes
  /// last.
  private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  private static func civilYear(ofDay day: Int) -> Int {
    var year = 1970 + day / 366
    while dayNumber(year: year + 1, month: 1, day: 1) <= day { year += 1 }
    return year
  }
}
