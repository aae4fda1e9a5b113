internal import HTTPTypes

extension HTTPFields {
  /// Fields that say where a message ends or what becomes of its connection. That is the transport's to say: one that is
  /// wrong makes the server take the next request for a part of this one.
  ///
  /// RFC 9110, sections 7.6.1, 7.8, 10.1.1 and 10.1.4; RFC 9112, section 6; RFC 9113, section 8.2.2.
  private static let framing: Set<String> = [
    "connection", "content-length", "expect", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding",
    "upgrade",
  ]

  /// Throws `bad_row` where a field is among them, or is for a proxy alone.
  func checkFraming() throws(FetchFailure) {
    for field in self where Self.isFraming(field.name.canonicalName) {
      throw FetchFailure(.badRow, "The header field \(field.name) is the transport's to set; leave it out.")
    }
  }

  private static func isFraming(_ name: String) -> Bool { framing.contains(name) || name.hasPrefix("proxy-") }
}
