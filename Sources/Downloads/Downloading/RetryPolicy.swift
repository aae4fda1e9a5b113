internal import CCurl
internal import Foundation
internal import HTTPTypes

/// Decides if and when a failed attempt is retried: exponential backoff with full jitter.
public struct RetryPolicy: Hashable, Sendable {
  /// The number of retries after the first attempt. 0 or less means no retries. An empty body that is refused
  /// (`empty_body`) is retried once at most. Default 3.
  public var limit: Int
  /// The longest pause before the first retry. It doubles with each further retry. From zero to ``cap``; a value
  /// outside is clamped. Default 0.5 s.
  public var base: Duration
  /// The longest pause that the policy itself chooses. From zero to 20 days; a value outside is clamped. Default 30 s.
  public var cap: Duration
  /// The longest time to wait for a host that requests pauses with `Retry-After`, or refuses with 429: the sum of the
  /// pauses until it serves a request again. Beyond it, downloads from that host fail as retryable. From zero to 20
  /// days; a value outside counts as the nearest bound. Default 120 s.
  public var maxWait: Duration
  /// Failures that are retried although ``FailureCode/isRetryable`` is false, such as `http_401` if a modifier gets a
  /// new token after it. Default: none.
  public var additionalCodes: Set<FailureCode> = []

  /// A policy of up to `limit` retries.
  public init(
    limit: Int = 3, base: Duration = .milliseconds(500), cap: Duration = .seconds(30),
    maxWait: Duration = .seconds(120)
  ) {
    self.limit = limit
    self.base = base
    self.cap = cap
    self.maxWait = maxWait
  }

  /// Returns the pause before the next attempt; nil if the download must not be retried. A pause that the server has
  /// requested is obeyed in full, or not waited for at all. `empty_body`, the result of
  /// ``ResponseRules/EmptyBodies/refused``, is retried once at most.
  ///
  /// - Parameters:
  ///   - code: the failure of the last attempt.
  ///   - attempts: the number of failed attempts so far, at least 1.
  ///   - retryAfter: the pause that the server requested (RFC 9110, section 10.2.3).
  ///   - jitter: a random number in 0..<1. It keeps many clients from returning at the same moment.
  public func pause(after code: FailureCode, attempts: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
    guard attempts <= limit, code.isRetryable || additionalCodes.contains(code) else { return nil }
    // An empty response is hardly ever temporary: one retry is enough.
    if code == .emptyBody, attempts > 1 { return nil }
    if let retryAfter { return retryAfter > maxWait ? nil : retryAfter.clamped(to: .waiting) }
    return ceiling(attempts: attempts) * jitter.clamped(to: 0...1)
  }

  /// Returns the longest pause after this number of attempts, at least 1.
  func ceiling(attempts: Int) -> Duration {
    min(base.clamped(to: .zero...longest) * (1 << (attempts.clamped(to: 1...21) - 1)), longest)
  }

  /// The value of ``cap``, clamped to its range.
  var longest: Duration { cap.clamped(to: .waiting) }
}

/// The `Retry-After` header field (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// Returns the pause that a response requests; nil if it requests none.
  static func duration(in response: HTTPResponse, now: Date) -> Duration? {
    response.headerFields[.retryAfter].flatMap { duration(of: $0, now: now) }
  }

  /// Returns the requested pause, for a value that is a number of seconds or a date in the future; nil for any other
  /// value. Zero is no pause either, so that the client's own pauses apply.
  static func duration(of value: String, now: Date) -> Duration? {
    pause(value.trimmed, now: now).flatMap { $0 > .zero ? $0 : nil }
  }

  private static func pause(_ value: String, now: Date) -> Duration? {
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(Int64(value) ?? Int64(Int32.max))
    }
    let date = curl_getdate(value, nil)
    guard date >= 0 else { return nil }
    return .seconds(Double(date) - now.timeIntervalSince1970)
  }
}
