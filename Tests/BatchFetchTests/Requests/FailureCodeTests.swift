import BatchFetch
import Testing

@Suite struct FailureCodeTests {
  @Test(arguments: [
    "bad_url", "bad_row", "blocked_scheme", "blocked_address", "blocked_robots", "host_unavailable", "dns_not_found",
    "dns_temporary", "connect_failed", "tls", "timeout_connect", "timeout_first_byte", "timeout_total", "stalled",
    "connection_lost", "http_404", "too_many_redirects", "bad_encoding", "too_large_bytes", "too_many_pixels",
    "empty_body", "truncated", "not_an_image", "unsupported_format", "decode_error", "decode_limit", "output_failed",
    "offline_miss", "request_failed", "cancelled",
  ])
  func `Every code of a report can be parsed`(name: String) throws {
    #expect(try #require(FailureCode(name)).description == name)
  }

  @Test(arguments: ["", "http_", "http_99", "http_abc", "unknown"])
  func `Text that is not a code is rejected`(name: String) {
    #expect(FailureCode(name) == nil)
  }

  @Test(arguments: [
    "http_408", "http_425", "http_429", "http_503", "stalled", "truncated", "dns_temporary", "host_unavailable",
  ])
  func `Temporary failures are retryable`(name: String) {
    #expect(FailureCode(name)?.isRetryable == true)
  }

  @Test(arguments: [
    "http_404", "http_403", "tls", "bad_url", "not_an_image", "dns_not_found", "output_failed", "blocked_robots",
    "request_failed",
  ])
  func `Permanent failures are not retryable`(name: String) {
    #expect(FailureCode(name)?.isRetryable == false)
  }
}
