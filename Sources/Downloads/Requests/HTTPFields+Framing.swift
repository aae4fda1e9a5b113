package import HTTPTypes

extension HTTPFields {
  /// Fields that frame a message or control its connection. Only the transport may set them: with a wrong value, a
  /// server would take the next request on the connection for a part of this one.
  ///
  /// RFC 9110, sections 7.6.1, 7.8, 10.1.1 and 10.1.4; RFC 9112, section 6; RFC 9113, section 8.2.2.
  private static let framing: Set<String> = [
    "connection", "content-length", "expect", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding",
    "upgrade",
  ]

  /// Throws `bad_row` if one of the fields concerns framing or the connection, or is meant for a proxy.
  package func checkFraming() throws(FetchFailure) {
    for field in self where Self.isFraming(field.name.canonicalName) {
      throw FetchFailure(.badField, "The header field \(field.name) is set by the transport; remove it.")
    }
  }

  /// An underscore counts as a hyphen: servers that pass fields on as variables, as in CGI, cannot tell the two apart.
  private static func isFraming(_ name: String) -> Bool {
    let name = name.replacing("_", with: "-")
    return framing.contains(name) || name.hasPrefix("proxy-")
  }
}

extension HTTPFields {
  /// Returns these fields, with an `Accept` field if they have none.
  package func accepting(_ mediaTypes: String) -> HTTPFields {
    var fields = self
    if fields[.accept] == nil { fields[.accept] = mediaTypes }
    return fields
  }

  /// Replaces the fields that have the same names as those in `others`, and adds the rest of `others`.
  mutating func replace(with others: HTTPFields) {
    for field in others { self[field.name] = nil }
    append(contentsOf: others)
  }
}
