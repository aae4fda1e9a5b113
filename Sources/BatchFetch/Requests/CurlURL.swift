internal import CCurl
internal import Glibc

/// The parts of an address as libcurl reads it.
struct CurlURL {
  /// Host in lower case, with the port where that is not the scheme's own.
  let authority: String
  /// Whether the host was written in other letters than those of ASCII.
  let isInternational: Bool
  /// `user` or `user:password`, still percent-encoded.
  let credentials: String?
  /// From the first slash; `/` where the address has none.
  let path: String
  /// What follows the question mark.
  let query: String?

  /// The parts of `text`, where that is relative completed by `base`; `shown` is what a message may quote.
  init(_ text: String, relativeTo base: String? = nil, shown: String) throws(FetchFailure) {
    // For C, the address would end there.
    guard !text.utf8.contains(0) else {
      throw FetchFailure(.badURL, "The address holds a zero byte: \(shown.quotedForMessage)")
    }
    guard let handle = curl_url() else { throw FetchFailure(.badURL, "Out of memory.") }
    defer { curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
    if let base { curl_url_set(handle, CURLUPART_URL, base, flags) }
    let result = curl_url_set(handle, CURLUPART_URL, text, flags)
    guard result == CURLUE_OK else {
      throw FetchFailure(.badURL, "\(String(cString: curl_url_strerror(result))): \(shown.quotedForMessage)")
    }
    let host = try Self.host(of: handle, shown: shown)
    let port = Self.part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_NO_DEFAULT_PORT))
    isInternational = Self.part(CURLUPART_HOST, of: handle)?.utf8.allSatisfy { $0 < 0x80 } == false
    self.authority = port.map { "\(host):\($0)" } ?? host
    self.path = Self.part(CURLUPART_PATH, of: handle) ?? "/"
    self.query = Self.part(CURLUPART_QUERY, of: handle)
    let password = Self.part(CURLUPART_PASSWORD, of: handle)
    self.credentials = Self.part(CURLUPART_USER, of: handle).map { user in
      password.map { "\(user):\($0)" } ?? user
    }
  }

  /// The host in ASCII; empty for a file.
  private static func host(of handle: OpaquePointer, shown: String) throws(FetchFailure) -> String {
    var value: UnsafeMutablePointer<CChar>?
    let result = withUTF8 { curl_url_get(handle, CURLUPART_HOST, &value, UInt32(CURLU_PUNYCODE)) }
    defer { curl_free(value) }
    if result == CURLUE_NO_HOST { return "" }
    guard result == CURLUE_OK, let value else {
      throw FetchFailure(.badURL, "\(String(cString: curl_url_strerror(result))): \(shown.quotedForMessage)")
    }
    let host = String(cString: value).lowercased()
    guard host.hasPrefix("[") || isName(host) else {
      throw FetchFailure(.badURL, "No host can be called so: \(shown.quotedForMessage)")
    }
    return host
  }

  /// Whether `host` is a name as hosts have them (RFC 1123, 2.1), with the underscores that some of them have too.
  private static func isName(_ host: String) -> Bool {
    // A dot is needed between two names, allowed behind the last, and nowhere else.
    var isAfterName = false
    for byte in host.utf8 {
      let isDot = byte == UInt8(ascii: ".")
      guard isDot ? isAfterName : (byte.isASCIIAlphanumeric || "-_".utf8.contains(byte)) else { return false }
      isAfterName = !isDot
    }
    return !host.isEmpty
  }

  /// libcurl reads names in the character set of the thread's locale. Changes that for the call, on this thread only.
  private static func withUTF8<T>(_ body: () -> T) -> T {
    let previous = uselocale(utf8)
    defer { uselocale(previous) }
    return body()
  }

  /// Made once and never freed. Nil where the system has no such locale; then the thread's own stays. Unsafe only to the
  /// compiler, which sees a pointer: a locale is never changed, and any number of threads may use one (POSIX, `uselocale`).
  private nonisolated(unsafe) static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

  private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &value, flags) == CURLUE_OK, let value else { return nil }
    defer { curl_free(value) }
    return String(cString: value)
  }
}
