internal import Glibc
internal import HTTPTypes

/// The names of common response fields, made once. Making a name checks and copies it, and puts it into lower case.
enum FieldNames {
  private typealias Entry = (bytes: [UInt8], name: HTTPField.Name)

  /// Returns the field name that is spelled `bytes`; nil if they are not a valid name.
  static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
    if bytes.count < common.count {
      for entry in common[bytes.count] where isEqual(entry.bytes, bytes) { return entry.name }
    }
    return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
  }

  /// Compares texts of the same length.
  private static func isEqual(_ text: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return memcmp(text, start, bytes.count) == 0
  }

  /// The names by length. Servers write them in this case over HTTP/1.1, and in lower case over HTTP/2.
  private static let common: [[Entry]] = {
    let names = [
      "Date", "Server", "Content-Type", "Content-Length", "Last-Modified", "Connection", "ETag", "Etag",
      "Accept-Ranges", "Cache-Control", "Expires", "Vary", "Age", "Via", "Location", "Keep-Alive", "Transfer-Encoding",
      "Content-Encoding", "Content-Range", "Content-Disposition", "Content-Security-Policy", "Set-Cookie", "Link",
      "Alt-Svc", "Retry-After", "X-Cache", "X-Cache-Hits", "X-Served-By", "X-Timer", "CF-RAY", "CF-Cache-Status",
      "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Timing-Allow-Origin", "X-Content-Type-Options",
      "X-Frame-Options", "X-Robots-Tag", "Referrer-Policy", "Strict-Transport-Security", "Report-To", "NEL",
      "Server-Timing", "Cross-Origin-Resource-Policy",
    ]
    var entries = [[Entry]](repeating: [], count: 40)
    for text in Set(names + names.map { $0.lowercased() }) {
      guard let name = HTTPField.Name(text), text.utf8.count < entries.count else { continue }
      entries[text.utf8.count].append((Array(text.utf8), name))
    }
    return entries
  }()
}
