internal import CCurl
internal import Glibc

/// The parts of a URL as libcurl parses them.
struct CurlURL {
  /// The host in canonical form; see ``HostParts/canonical(_:)``.
  let host: String
  /// The port; nil for the default of the scheme.
  let port: String?
  /// True if the name was written with a final dot, which keeps a resolver from appending search domains.
  let hasFinalDot: Bool
  /// `user` or `user:password`, still percent-encoded.
  let credentials: String?
  /// The path with its leading slash; `/` if the URL has none.
  let path: String
  /// The part after the question mark; nil if there is none.
  let query: String?

  /// Parses `text`, resolved against `base` if it is relative. Messages quote `shown`.
  ///
  /// - Throws: `bad_url` if the text is too long, if libcurl rejects it, or if the host cannot be a host name.
  init(_ text: String, relativeTo base: String? = nil, shown: String) throws(FetchFailure) {
    try SourceURL.checkLength(of: text, shown: shown)
    // A C string would end at the zero byte.
    guard text.withCString({ strlen($0) }) == text.utf8.count else {
      throw FetchFailure(.badURL, "The URL contains a zero byte: \(shown.quotedForMessage)")
    }
    guard let handle = curl_url() else { throw FetchFailure(.badURL, "Out of memory.") }
    defer { curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
    if let base { curl_url_set(handle, CURLUPART_URL, base, flags) }
    let result = curl_url_set(handle, CURLUPART_URL, text, flags)
    guard result == CURLUE_OK else {
      throw FetchFailure(.badURL, "\(String(cString: curl_url_strerror(result))): \(shown.quotedForMessage)")
    }
    let written = Self.part(CURLUPART_HOST, of: handle)
    let isInternational = written?.utf8.allSatisfy { $0 < 0x80 } == false
    let ascii = try isInternational ? Self.asciiHost(of: handle, shown: shown) : written?.lowercased() ?? ""
    guard let host = written == nil ? "" : HostParts.canonical(ascii) else {
      throw FetchFailure(.badURL, "The host name is invalid: \(shown.quotedForMessage)")
    }
    self.host = host
    hasFinalDot = ascii.utf8.last == UInt8(ascii: ".") && HostParts(of: host).kind != .address
    port = Self.part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_NO_DEFAULT_PORT))
    self.path = Self.part(CURLUPART_PATH, of: handle) ?? "/"
    self.query = Self.part(CURLUPART_QUERY, of: handle)
    // The base has no credentials.
    let mayHaveCredentials = text.withCString { strchr($0, Int32(UInt8(ascii: "@"))) != nil }
    self.credentials = mayHaveCredentials ? Self.credentials(of: handle) : nil
  }

  private static func credentials(of handle: OpaquePointer) -> String? {
    let password = part(CURLUPART_PASSWORD, of: handle)
    return part(CURLUPART_USER, of: handle).map { user in password.map { "\(user):\($0)" } ?? user }
  }

  /// Returns the ASCII form of an international host.
  private static func asciiHost(of handle: OpaquePointer, shown: String) throws(FetchFailure) -> String {
    var value: UnsafeMutablePointer<CChar>?
    let result = withUTF8 { curl_url_get(handle, CURLUPART_HOST, &value, UInt32(CURLU_PUNYCODE)) }
    defer { curl_free(value) }
    guard result == CURLUE_OK, let value else {
      throw FetchFailure(.badURL, "\(String(cString: curl_url_strerror(result))): \(shown.quotedForMessage)")
    }
    return String(cString: value).lowercased()
  }

  /// Runs `body` with a UTF-8 locale on this thread, because libcurl decodes host names in the thread's locale.
  private static func withUTF8<T>(_ body: () -> T) -> T {
    let previous = uselocale(utf8)
    defer { uselocale(previous) }
    return body()
  }

  /// A UTF-8 locale, created once and never freed; nil if the system has none, and then the thread keeps its own
  /// locale. `nonisolated(unsafe)` is correct: a locale is immutable, and any number of threads may use it (POSIX,
  /// `uselocale`).
  private nonisolated(unsafe) static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

  private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &value, flags) == CURLUE_OK, let value else { return nil }
    defer { curl_free(value) }
    return String(cString: value)
  }
}
