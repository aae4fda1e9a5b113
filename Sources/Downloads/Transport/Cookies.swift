internal import CCurl
internal import Foundation
internal import HTTPTypes

/// The cookies of a file in the Netscape format, which browsers and curl write. Nothing is added to them.
///
/// Each line has seven fields separated by tabs: the domain, `TRUE` if its subdomains are included, the path, `TRUE` if
/// the cookie is only for https, the expiry in seconds since 1970 (0 for none), the name and the value. Empty lines and
/// lines that begin with `#` are skipped, except those that begin with `#HttpOnly_`.
///
/// The file is trusted: as in curl, a cookie for the subdomains of a public suffix such as `co.uk`, which a browser
/// would never store, is sent to all of them. For a domain without a dot, subdomains are not included.
public struct CookieFile: Sendable {
  /// An error in a line of a file.
  public struct ParseError: Error, Hashable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The description of the error: the end of a sentence, without its period.
    public let reason: String
  }

  /// The cookies that had not expired when the file was read, those with the longest path first.
  private let cookies: [Cookie]

  /// Reads a file. Expired cookies are left out.
  ///
  /// - Throws: A ``ParseError`` for a line that is not a cookie.
  public init(_ text: String) throws(ParseError) { try self.init(text, now: Date()) }

  init(_ text: String, now: Date) throws(ParseError) {
    var cookies: [Cookie] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (number, line) in zip(1..., lines) where !Self.isSkipped(line) {
      do throws(CookieError) {
        cookies.append(try Cookie(line))
      } catch {
        throw ParseError(line: number, reason: error.reason)
      }
    }
    self.cookies = cookies.filter { !$0.isExpired(at: now) }.longestPathFirst
  }

  /// Returns the value of the `Cookie` header field for a request to `source`; nil if no cookie is for it.
  func field(for source: SourceURL, now: Date = Date()) -> String? {
    cookies.filter { $0.isFor(source) && !$0.isExpired(at: now) }.field
  }

  /// Returns a hash of all cookies for the host of `source`, regardless of path; nil if there are none.
  func digest(for source: SourceURL) -> String? {
    let fields = cookies.filter { $0.isFor(host: source.hostName) }.map(\.identity)
    return fields.isEmpty ? nil : BodyDigest(of: Array(fields.joined(separator: "\n").utf8)).description
  }

  private static func isSkipped(_ line: Substring) -> Bool {
    line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") && !line.hasPrefix(Cookie.httpOnlyMark)
  }
}

extension SourceURL {
  /// The path without the query.
  fileprivate var requestPath: String {
    String(pathAndQuery.prefix { $0 != "?" })
  }
}

// MARK: Redirects

/// The cookies that the responses of one redirect chain have set. They are sent with later requests of the chain, as
/// by a browser that has no others, and forgotten after it.
struct ChainCookies: Sendable {
  private var cookies: [Cookie] = []

  /// A server that sets more must expect that some are missing (RFC 6265, section 6.1).
  private static let maxCount = 50

  /// Adds the cookies that a response to a request for `source` sets, and removes those that it deletes.
  mutating func add(from response: HTTPResponse, to source: SourceURL, now: Date = Date()) {
    for field in response.headerFields where field.name == .setCookie {
      guard let cookie = Cookie(setCookie: field.value, from: source, now: now) else { continue }
      cookies.removeAll { ($0.name, $0.domain, $0.path) == (cookie.name, cookie.domain, cookie.path) }
      if !cookie.isExpired(at: now), cookies.count < Self.maxCount { cookies.append(cookie) }
    }
  }

  /// Returns the value of the `Cookie` header field for a request to `source`; nil if no cookie is for it.
  func field(for source: SourceURL) -> String? { cookies.longestPathFirst.filter { $0.isFor(source) }.field }

  /// Returns the value of a `Cookie` header field with the cookies of `field`, except those that `later` replaces.
  static func merge(_ field: String?, with later: String) -> String {
    let names = Set(pairs(of: later).map(name))
    let kept = pairs(of: field ?? "").filter { !$0.isEmpty && !names.contains(name(of: $0)) }
    return (kept + [later]).joined(separator: "; ")
  }

  private static func pairs(of field: String) -> [String] { field.split(separator: ";").map { $0.trimmed } }

  private static func name(of pair: String) -> Substring { pair.prefix { $0 != "=" } }
}

// MARK: Cookie

/// A cookie of a file or of a response.
private struct Cookie: Hashable, Sendable {
  /// The prefix of a line whose cookie scripts cannot read, which makes no difference here.
  static let httpOnlyMark = "#HttpOnly_"

  /// The domain in lower case, without a leading or a final dot.
  let domain: String
  /// True if the cookie is for the subdomains of its domain, too.
  let includesSubdomains: Bool
  let path: String
  /// True if the cookie is only for https.
  let isSecure: Bool
  /// The seconds since 1970 after which the cookie is not sent; 0 for none.
  let expiry: Int
  let name: String
  let value: String
}

/// An error that makes a line unusable as a cookie.
private struct CookieError: Error, Hashable, Sendable {
  var reason: String
}

extension Cookie {
  /// Parses a line.
  init(_ line: Substring) throws(CookieError) {
    let text = line.hasPrefix(Self.httpOnlyMark) ? line.dropFirst(Self.httpOnlyMark.count) : line
    var fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    // A cookie without a value may lack the last tab.
    if fields.count == 6 { fields.append("") }
    guard fields.count == 7 else {
      throw CookieError(reason: "give the seven fields of the Netscape format, separated by tabs")
    }
    guard let expiry = Double(fields[4]).flatMap({ Int(exactly: $0.rounded(.down)) }), expiry >= 0 else {
      throw CookieError(reason: "the fifth field is not a time in seconds since 1970")
    }
    domain = try Self.domain(fields[0])
    // A cookie for all hosts below a top-level domain would be for sites of others.
    includesSubdomains = try Self.flag(fields[1], "second") && domain.contains(".") && IPAddress(domain) == nil
    path = fields[2].hasPrefix("/") ? fields[2] : "/"
    isSecure = try Self.flag(fields[3], "fourth")
    self.expiry = expiry
    (name, value) = (fields[5], fields[6])
    let isClean = (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
    guard isClean else {
      throw CookieError(reason: "the name and the value must not contain semicolons or control characters")
    }
    if name.isEmpty { throw CookieError(reason: "the name is empty") }
  }

  /// Returns true if the cookie is sent with a request for `source`.
  func isFor(_ source: SourceURL) -> Bool {
    isFor(host: source.hostName) && isFor(path: source.requestPath) && (!isSecure || source.scheme == .https)
  }

  /// Returns true if the cookie is not sent anymore.
  func isExpired(at now: Date) -> Bool { expiry != 0 && Double(expiry) <= now.timeIntervalSince1970 }

  /// Returns true if the cookie is for `host`, which is in lower case (RFC 6265, section 5.1.3).
  func isFor(host: String) -> Bool { host == domain || includesSubdomains && host.hasSuffix("." + domain) }

  /// Returns true if the cookie is for `path` (RFC 6265, section 5.1.4).
  func isFor(path: String) -> Bool {
    guard path.hasPrefix(self.path) else { return false }
    return self.path.hasSuffix("/") || path.utf8.count == self.path.utf8.count
      || path.dropFirst(self.path.count).hasPrefix("/")
  }

  /// Everything that distinguishes the cookie from others.
  var identity: String {
    [domain, "\(includesSubdomains)", path, "\(isSecure)", name, value].joined(separator: "\t")
  }

  private static func domain(_ text: String) throws(CookieError) -> String {
    let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
    let parsed = try? SourceURL("https://\(name)/")
    guard let parsed, !name.isEmpty, !name.contains(where: { "/\\?#@".contains($0) }) else {
      throw CookieError(reason: "the first field is not a host")
    }
    return parsed.hostName
  }

  private static func flag(_ text: String, _ place: String) throws(CookieError) -> Bool {
    switch text.uppercased() {
    case "TRUE": return true
    case "FALSE": return false
    default: throw CookieError(reason: "the \(place) field is neither TRUE nor FALSE")
    }
  }
}

// Set-Cookie (RFC 6265, section 5.2).
extension Cookie {
  /// Parses the value of a `Set-Cookie` field in a response to a request for `source`; nil if the cookie may not be
  /// set.
  fileprivate init?(setCookie text: String, from source: SourceURL, now: Date) {
    var parts = text.split(separator: ";", omittingEmptySubsequences: false).map { Self.pair($0) }[...]
    guard let pair = parts.popFirst(), let value = pair.value, !pair.name.isEmpty else { return nil }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), text.utf8.count <= 4096 else { return nil }
    (name, self.value) = (pair.name, value)
    // The last of several attributes counts.
    let attributes = Dictionary(parts.map { ($0.name.lowercased(), $0.value ?? "") }) { $1 }
    isSecure = attributes["secure"] != nil
    guard !isSecure || source.scheme == .https else { return nil }
    let host = attributes["domain"].map { $0.lowercased().drop { $0 == "." } } ?? ""
    domain = host.isEmpty ? source.hostName : String(host)
    includesSubdomains = !host.isEmpty && host.contains(".") && IPAddress(domain) == nil
    let path = attributes["path"] ?? ""
    self.path = path.hasPrefix("/") ? path : Self.defaultPath(of: source)
    expiry = Self.expiry(attributes, now: now)
    guard isFor(host: source.hostName) else { return nil }
  }

  private static func pair(_ text: Substring) -> (name: String, value: String?) {
    guard let equals = text.firstIndex(of: "=") else { return (text.trimmed, nil) }
    return (text[..<equals].trimmed, text[text.index(after: equals)...].trimmed)
  }

  /// Section 5.1.4: the directory of the request.
  private static func defaultPath(of source: SourceURL) -> String {
    let directory = source.requestPath.dropLast(source.requestPath.reversed().prefix { $0 != "/" }.count + 1)
    return directory.isEmpty ? "/" : String(directory)
  }

  /// The seconds since 1970 after which the cookie is not sent; 0 for none. `Max-Age` comes before `Expires`.
  private static func expiry(_ attributes: [String: String], now: Date) -> Int {
    if let age = attributes["max-age"].flatMap({ Double($0) }) {
      return Int(clamping: Int64(max(1, min(now.timeIntervalSince1970 + (age > 0 ? age : -1), 1e15))))
    }
    let date = attributes["expires"].map { curl_getdate($0, nil) } ?? -1
    return date < 0 ? 0 : max(1, Int(date))
  }
}

extension [Cookie] {
  /// The cookies in the order in which they are sent: longer paths first, others as they are (RFC 6265, section 5.4).
  fileprivate var longestPathFirst: [Cookie] {
    enumerated().sorted { a, b in
      (-a.element.path.utf8.count, a.offset) < (-b.element.path.utf8.count, b.offset)
    }.map(\.element)
  }

  /// The value of the `Cookie` header field; nil without cookies.
  fileprivate var field: String? { isEmpty ? nil : map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
}
