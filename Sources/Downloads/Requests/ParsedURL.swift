internal import CCurl
internal import Glibc

/// The parts of a URL, read by the URL standard (https://url.spec.whatwg.org, section 4.4) as by browsers: tabs and
/// line feeds are removed, a backslash is a slash, and any number of slashes follows `http:`.
///
/// It differs from the standard where it says so below, and in three ways that matter to a downloader: a host must be
/// one that can be looked up (letters, digits, `-` and `_`, no empty label), port 0 is rejected, and the fragment is
/// left out.
struct ParsedURL {
  private(set) var scheme: SourceURL.Scheme
  /// The host in canonical form; see ``HostParts/canonical(_:)``. Empty for files.
  private(set) var host = ""
  /// The port; nil for the default of the scheme.
  private(set) var port: Int?
  /// True if the name was written with a final dot, which keeps a resolver from appending search domains.
  private(set) var hasFinalDot = false
  /// `user` or `user:password`, percent-encoded.
  private(set) var credentials: String?
  /// The path with its leading slash, and the query with its question mark.
  private(set) var target: [UInt8] = []

  private typealias Bytes = ArraySlice<UInt8>

  /// Reads `written`, resolved against `base` if it is relative. Bytes that are not UTF-8 are percent-encoded as they
  /// are. Messages quote `shown`.
  ///
  /// - Throws: `bad_url`, or `blocked_scheme` for a scheme other than http, https and file.
  init(_ written: [UInt8], relativeTo base: SourceURL? = nil, shown: String) throws(FetchFailure) {
    let text = Self.cleaned(written)
    let name = Self.schemeName(of: text)
    let rest = name.map { text[($0.endIndex + 1)...] } ?? text
    scheme = try Self.scheme(name, rest, base, shown: shown)
    if scheme == .file, name != nil || rest.prefix(2).count(where: \.isURLSlash) == 2 {
      try readFile(rest, shown: shown)
    } else {
      try readWeb(rest, base: name == nil || scheme == base?.scheme ? base : nil, shown: shown)
    }
  }

  /// Returns the text without control characters and spaces at both ends, and without tabs and line terminators inside.
  private static func cleaned(_ text: [UInt8]) -> Bytes {
    let trimmed = text[...].trimmed { $0 <= 0x20 }
    guard trimmed.contains(where: { removed.contains($0) }) else { return trimmed }
    return Bytes(trimmed.filter { !removed.contains($0) })
  }

  private static let removed: [UInt8] = [0x09, 0x0A, 0x0D]

  // MARK: Scheme

  private static func schemeName(of text: Bytes) -> Bytes? {
    guard text.first?.isASCIILetter == true else { return nil }
    let end = text.firstIndex { !$0.isASCIIAlphanumeric && !"+-.".utf8.contains($0) }
    guard let end, text[end] == UInt8(ascii: ":") else { return nil }
    return text[..<end]
  }

  /// - Parameters:
  ///   - name: the scheme that the text begins with; nil if there is none.
  ///   - rest: the text after the colon.
  private static func scheme(
    _ name: Bytes?, _ rest: Bytes, _ base: SourceURL?, shown: String
  ) throws(FetchFailure) -> SourceURL.Scheme {
    guard let name else {
      if let base { return base.scheme }
      throw FetchFailure(.badURL, "The URL is not absolute: \(shown.quotedForMessage)")
    }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    if let scheme = SourceURL.Scheme(rawValue: text), [.http, .https, .file].contains(scheme) { return scheme }
    // The standard reads `host:80/a` as a URL with the scheme `host`. People mean a host and its port.
    guard base != nil || rest.starts(with: "//".utf8) || opaqueSchemes.contains(text) else {
      throw FetchFailure(.badURL, "The URL is not absolute: \(shown.quotedForMessage)")
    }
    throw FetchFailure(.blockedScheme, "The URL scheme \"\(text)\" is not supported.")
  }

  private static let opaqueSchemes: Set<String> = ["data", "javascript", "blob", "about", "mailto", "ftp"]

  // MARK: Files

  /// Reads `//HOST/PATH` or `/PATH`. A host other than this machine is rejected.
  private mutating func readFile(_ text: Bytes, shown: String) throws(FetchFailure) {
    let slashes = text.prefix(2).prefix(while: \.isURLSlash).count
    let begin = slashes == 2 ? text.dropFirst(2).firstIndex(where: \.endsAuthority) ?? text.endIndex : text.startIndex
    let host = slashes == 2 ? String(decoding: text[(text.startIndex + 2)..<begin], as: UTF8.self).lowercased() : ""
    guard slashes > 0, ["", "localhost", "127.0.0.1"].contains(host) else {
      throw FetchFailure(.badURL, "The URL of a file must have the form file:///path: \(shown.quotedForMessage)")
    }
    append(target: text[begin...].droppingQuery)
  }

  // MARK: http and https

  /// - Parameter base: The URL that fills what is missing; nil if the text is absolute.
  private mutating func readWeb(_ text: Bytes, base: SourceURL?, shown: String) throws(FetchFailure) {
    let slashes = text.prefix(while: \.isURLSlash).count
    guard let base, slashes < 2 else {
      let rest = text.dropFirst(slashes)
      let end = rest.firstIndex(where: \.endsAuthority) ?? rest.endIndex
      try readAuthority(rest[..<end], shown: shown)
      return append(target: rest[end...])
    }
    takeAuthority(of: base)
    guard slashes == 0 else { return append(target: text) }
    let query = base.pathAndQuery.utf8.firstIndex(of: UInt8(ascii: "?")) ?? base.pathAndQuery.endIndex
    let path = base.pathAndQuery[..<query]
    switch text.first {
    case nil, UInt8(ascii: "#"): target = Array(base.pathAndQuery.utf8)
    case UInt8(ascii: "?"):
      target = Array(path.utf8)
      append(query: text)
    default:
      target = Array(path.utf8[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)].dropLast())
      append(target: text)
    }
  }

  private mutating func takeAuthority(of base: SourceURL) {
    (host, hasFinalDot, credentials) = (base.hostName, base.hasFinalDot, nil)
    if host.contains(":") { host = "[\(host)]" }
    port = base.port == scheme.defaultPort ? nil : base.port
  }

  /// Reads `user:password@host:port`. The last `@` ends the credentials.
  private mutating func readAuthority(_ text: Bytes, shown: String) throws(FetchFailure) {
    let at = text.lastIndex(of: UInt8(ascii: "@"))
    if let at { credentials = Self.credentials(text[..<at]) }
    let address = at.map { text[($0 + 1)...] } ?? text
    let colon = address.first == UInt8(ascii: "[") ? address.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : nil
    let end = colon ?? address.firstIndex(of: UInt8(ascii: ":")) ?? address.endIndex
    try readHost(address[..<end], shown: shown)
    try readPort(address[end...], shown: shown)
  }

  private static func credentials(_ text: Bytes) -> String? {
    let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let encoded = parts.map { part in
      var bytes: [UInt8] = []
      part.appendEncoded(to: &bytes, isLegal: .inCredentials)
      return String(decoding: bytes, as: UTF8.self)
    }
    return encoded.allSatisfy(\.isEmpty) ? nil : encoded.joined(separator: ":")
  }

  private mutating func readPort(_ text: Bytes, shown: String) throws(FetchFailure) {
    let digits = text.dropFirst()
    guard !digits.isEmpty || text.first.map({ $0 == UInt8(ascii: ":") }) ?? true else {
      throw FetchFailure(.badURL, "The host name is invalid: \(shown.quotedForMessage)")
    }
    guard !digits.isEmpty else { return }
    let number = digits.allSatisfy(\.isASCIIDigit) ? digits.reduce(0) { min(1 << 16, $0 * 10 + Int($1 & 15)) } : 0
    guard text.first == UInt8(ascii: ":"), (1...65535).contains(number) else {
      throw FetchFailure(.badURL, "The port is not a number from 1 to 65535: \(shown.quotedForMessage)")
    }
    port = number == scheme.defaultPort ? nil : number
  }

  // MARK: Host

  private mutating func readHost(_ text: Bytes, shown: String) throws(FetchFailure) {
    let decoded = text.contains(UInt8(ascii: "%")) ? text.percentDecoded : text
    guard let ascii = Self.ascii(decoded), let canonical = HostParts.canonical(ascii) else {
      throw FetchFailure(.badURL, "The host name is invalid: \(shown.quotedForMessage)")
    }
    host = canonical
    hasFinalDot = ascii.utf8.last == UInt8(ascii: ".") && HostParts(of: canonical).kind != .address
  }

  /// Returns a host in ASCII and lower case; nil if it cannot be.
  private static func ascii(_ host: Bytes) -> String? {
    if host.allSatisfy({ $0 < 0x80 }) { return String(decoding: host, as: UTF8.self).lowercased() }
    // libcurl gets nothing that could end the host.
    let isPlain = host.allSatisfy { $0 >= 0x80 || $0.isASCIIAlphanumeric || "-_.~".utf8.contains($0) }
    guard isPlain, let text = String(validating: host, as: UTF8.self) else { return nil }
    return InternationalName.ascii(text)
  }

  // MARK: Path and query

  /// Appends a path, with or without its slash, and a query.
  private mutating func append(target text: Bytes) {
    let end = text.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? text.endIndex
    append(path: text[..<end])
    append(query: text[end...])
  }

  private mutating func append(path: Bytes) {
    let path = path.first?.isURLSlash == true ? path.dropFirst() : path
    target.reserveCapacity(target.count + path.count + 32)
    var segments = path.split(omittingEmptySubsequences: false, whereSeparator: \.isURLSlash)[...]
    while let segment = segments.popFirst() {
      switch segment.dotCount {
      case 1: break
      case 2: target.removeLast(target.count - (target.lastIndex(of: UInt8(ascii: "/")) ?? 0))
      default:
        target.append(UInt8(ascii: "/"))
        segment.appendEncoded(to: &target, isLegal: .inPath)
        continue
      }
      // Dots at the end stand for the directory.
      if segments.isEmpty { target.append(UInt8(ascii: "/")) }
    }
  }

  /// Appends a query with its question mark, and leaves out the fragment.
  private mutating func append(query text: Bytes) {
    guard text.first == UInt8(ascii: "?") else { return }
    target.append(UInt8(ascii: "?"))
    text.dropFirst().prefix { $0 != UInt8(ascii: "#") }.appendEncoded(to: &target, isLegal: .inQuery)
  }
}

// MARK: Bytes

extension [Bool] {
  /// The bytes that credentials contain as they are ("userinfo percent-encode set").
  fileprivate static let inCredentials = except(" \"#<>?^`{}/:;=@[\\]|")
  /// The bytes that a segment of a path contains as they are ("path percent-encode set").
  fileprivate static let inPath = except(" \"#<>?^`{}")
  /// The bytes that a query contains as they are ("special-query percent-encode set").
  fileprivate static let inQuery = except(" \"#<>'")

  private static func except(_ encoded: String) -> [Bool] {
    (0...UInt8.max).map { (0x20...0x7E).contains($0) && !encoded.utf8.contains($0) }
  }
}

extension UInt8 {
  fileprivate var isURLSlash: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "\\") }
  fileprivate var endsAuthority: Bool { isURLSlash || self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }
}

extension ArraySlice<UInt8> {
  fileprivate func trimmed(_ isRemoved: (UInt8) -> Bool) -> Self {
    let begin = firstIndex { !isRemoved($0) } ?? endIndex
    let end = lastIndex { !isRemoved($0) }.map { $0 + 1 } ?? endIndex
    return self[begin..<Swift.max(begin, end)]
  }

  fileprivate var droppingQuery: Self { prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } }

  fileprivate func appendEncoded(to output: inout [UInt8], isLegal: [Bool]) {
    if allSatisfy({ isLegal[Int($0)] }) { return output.append(contentsOf: self) }
    for byte in self {
      if isLegal[Int(byte)] {
        output.append(byte)
      } else {
        output += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
  }

  /// 1 for the segment `.`, 2 for `..`, in which a dot may be written as `%2e`; 0 for any other segment.
  fileprivate var dotCount: Int {
    guard count <= 6, let first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else { return 0 }
    switch String(decoding: self, as: UTF8.self).lowercased() {
    case ".", "%2e": return 1
    case "..", ".%2e", "%2e.", "%2e%2e": return 2
    default: return 0
    }
  }

  /// The bytes with each `%` and its two hexadecimal digits decoded.
  var percentDecoded: Self {
    var (decoded, rest): ([UInt8], Self) = ([], self)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap(\.hexDigitValue)
      if byte == UInt8(ascii: "%"), digits.count == 2 {
        decoded.append(digits[0] << 4 | digits[1])
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return decoded[...]
  }
}

private let hexDigits = Array("0123456789ABCDEF".utf8)

// MARK: International names

/// Converts host names to ASCII (UTS 46) with the library that libcurl has for it.
private enum InternationalName {
  /// Returns the ASCII form of a name in lower case; nil if it has none.
  static func ascii(_ name: String) -> String? {
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_HOST, name, 0) == CURLUE_OK else { return nil }
    var value: UnsafeMutablePointer<CChar>?
    let result = withUTF8 { curl_url_get(handle, CURLUPART_HOST, &value, UInt32(CURLU_PUNYCODE)) }
    defer { curl_free(value) }
    guard result == CURLUE_OK, let value else { return nil }
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
}
