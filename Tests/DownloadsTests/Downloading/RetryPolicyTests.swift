import DownloadSupport
import Foundation
import Testing

@testable import Downloads

@Suite struct RetryPolicyTests {
  private let policy = RetryPolicy(limit: 3, base: .milliseconds(500), cap: .seconds(30))

  @Test(arguments: [(1, 500), (2, 1000), (3, 2000)])
  func `The pause before another attempt doubles with each one`(attempts: Int, milliseconds: Int) {
    let pause = policy.pause(after: .connectionLost, attempts: attempts, retryAfter: nil, jitter: 1)
    #expect(pause == .milliseconds(milliseconds))
  }

  @Test func `Jitter scales the pause from zero to its full length`() {
    #expect(policy.pause(after: .stalled, attempts: 1, retryAfter: nil, jitter: 0) == .zero)
    #expect(policy.pause(after: .stalled, attempts: 1, retryAfter: nil, jitter: 0.5) == .milliseconds(250))
  }

  @Test func `Attempts end at the limit, and those with an empty body after the second one`() {
    #expect(policy.pause(after: .stalled, attempts: 4, retryAfter: nil, jitter: 1) == nil)
    #expect(policy.pause(after: .emptyBody, attempts: 1, retryAfter: nil, jitter: 1) != nil)
    #expect(policy.pause(after: .emptyBody, attempts: 2, retryAfter: nil, jitter: 1) == nil)
  }

  @Test func `Pauses that the policy chooses are capped`() {
    let patient = RetryPolicy(limit: 100, base: .seconds(1), cap: .seconds(30))

    #expect(patient.pause(after: .http(503), attempts: 60, retryAfter: nil, jitter: 1) == .seconds(30))
  }

  @Test(arguments: [(7, 7), (90, 90), (120, 120), (121, nil), (3600, nil)])
  func `A pause that the server requests is obeyed in full, or not waited for at all`(requested: Int, expected: Int?) {
    let pause = policy.pause(after: .http(429), attempts: 1, retryAfter: .seconds(requested), jitter: 0)

    #expect(pause == expected.map { .seconds($0) })
  }

  @Test(arguments: [FailureCode.http(404), .http(403), .tls, .cancelled, .badURL, .badEncoding, .dnsNotFound])
  func `A failure that would only repeat itself is not retried`(code: FailureCode) {
    #expect(policy.pause(after: code, attempts: 1, retryAfter: nil, jitter: 1) == nil)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 522])
  func `A temporary failure of a server is retried`(status: Int) {
    #expect(policy.pause(after: .http(status), attempts: 1, retryAfter: nil, jitter: 1) != nil)
  }

  @Test(arguments: [
    ("120", 120), (" 1 ", 1), ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
  ])
  func `A Retry-After field holds seconds or a date`(value: String, seconds: Int) {
    #expect(RetryAfter.duration(of: value, now: Date(timeIntervalSince1970: 784_111_777)) == .seconds(seconds))
  }

  @Test(arguments: ["", "soon", "-5", " 0 ", "Sun, 06 Nov 1994 08:49:00 GMT"])
  func `A Retry-After field that holds neither seconds nor a date in the future has no effect`(value: String) {
    #expect(RetryAfter.duration(of: value, now: Date(timeIntervalSince1970: 784_111_777)) == nil)
  }
}
