internal import CCurl
internal import Foundation

/// The field `Retry-After` (RFC 9110, 10.2.3).
enum RetryAfter {
  /// How long a server asks to be left alone: a number of seconds, or a date. Nil for what is neither.
  static func duration(of value: String, now: Date) -> Duration? {
    let value = value.trimmed
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(Int64(value) ?? Int64(Int32.max))
    }
    let date = curl_getdate(value, nil)
    guard date >= 0 else { return nil }
    return .seconds(max(0, Double(date) - now.timeIntervalSince1970))
  }
}
