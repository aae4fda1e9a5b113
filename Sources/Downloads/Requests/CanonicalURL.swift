internal import CCurl
internal import Glibc

/// The parts of an http or https URL that is written in canonical form, as nearly all are: reading it takes a fifth of
/// the time that libcurl needs.
///
/// It recognizes fewer URLs than there are canonical ones. Whatever might be changed or rejected is left to libcurl:
/// credentials, percent signs, path segments that begin with a dot, IPv6, and numbers that might be an IP address.
struct CanonicalURL {
  let scheme: SourceURL.Scheme
  /// The host, with its port unless that is the default of the scheme.
  let authority: String

  /// Returns nil if libcurl must read `text`.
  init?(_ text: String) {
    let parts = text.utf8.withContiguousStorageIfAvailable { bytes in
      Self.scheme(of: bytes).flatMap { scheme in
        Self.authority(in: bytes, scheme).map { (scheme, String(decoding: $0, as: UTF8.self)) }
      }
    }
    guard let (scheme, authority) = parts ?? nil else { return nil }
    self.scheme = scheme
    self.authority = authority
  }

  private typealias Bytes = UnsafeBufferPointer<UInt8>

  private static func scheme(of bytes: Bytes) -> SourceURL.Scheme? {
    if bytes.starts(with: "https://".utf8) { return .https }
    return bytes.starts(with: "http://".utf8) ? .http : nil
  }

  private static func authority(in bytes: Bytes, _ scheme: SourceURL.Scheme) -> Slice<Bytes>? {
    let begin = scheme.rawValue.utf8.count + 3
    guard let slash = bytes[begin...].firstIndex(of: UInt8(ascii: "/")), isPath(bytes[slash...]) else { return nil }
    let authority = bytes[begin..<slash]
    guard let colon = authority.firstIndex(of: UInt8(ascii: ":")) else { return isHost(authority) ? authority : nil }
    guard isHost(authority[..<colon]), let port = port(authority[(colon + 1)...]) else { return nil }
    return port == scheme.defaultPort ? nil : authority
  }

  /// Returns true for a name of letters, digits, hyphens and underscores whose last label begins with a letter, so that
  /// it cannot be an IP address, and for an IP address of four decimal numbers.
  private static func isHost(_ host: Slice<Bytes>) -> Bool {
    var labelBegin = host.startIndex
    for index in host.indices where host[index] == UInt8(ascii: ".") {
      guard index > labelBegin else { return false }
      labelBegin = index + 1
    }
    guard let first = host[labelBegin...].first else { return false }
    if first.isASCIIDigit { return isAddress(host) }
    return isLetter[Int(first)] && host.allSatisfy { isLetter[Int($0)] || isHostSign[Int($0)] }
  }

  private static func isAddress(_ host: Slice<Bytes>) -> Bool {
    var (rest, count) = (host, 1)
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      guard isByte(rest[..<dot]) else { return false }
      rest = rest[(dot + 1)...]
      count += 1
    }
    return count == 4 && isByte(rest)
  }

  private static func isByte(_ digits: Slice<Bytes>) -> Bool { decimal(digits).map { $0 <= 255 } ?? false }

  private static func port(_ digits: Slice<Bytes>) -> Int? {
    decimal(digits).flatMap { (1...65535).contains($0) ? $0 : nil }
  }

  /// Returns the value of up to five digits without a leading zero.
  private static func decimal(_ digits: Slice<Bytes>) -> Int? {
    guard (1...5).contains(digits.count), digits.allSatisfy(\.isASCIIDigit) else { return nil }
    guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 & 15) }
  }

  /// Returns true for a path, perhaps with a query, in which nothing has to be encoded or removed.
  private static func isPath(_ path: Slice<Bytes>) -> Bool {
    var previous: UInt8 = 0
    for byte in path {
      guard isPathByte[Int(byte)], byte != UInt8(ascii: ".") || previous != UInt8(ascii: "/") else { return false }
      previous = byte
    }
    return previous != UInt8(ascii: "?")
  }

  private static let isLetter = table("abcdefghijklmnopqrstuvwxyz")
  private static let isHostSign = table("0123456789-_.")
  private static let isPathByte = (0...UInt8.max).map { byte in
    byte.isASCIIAlphanumeric || "-._~/?!$&'()*+,;=:".utf8.contains(byte)
  }

  private static func table(_ characters: String) -> [Bool] { (0...UInt8.max).map { characters.utf8.contains($0) } }
}

extension SourceURL.Scheme {
  /// The port to connect to if the URL names none.
  var defaultPort: Int { self == .https ? 443 : 80 }
}

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
