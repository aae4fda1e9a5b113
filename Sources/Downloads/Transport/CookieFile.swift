internal import Foundation

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
    let valid = cookies.filter { $0.expiry == 0 || Double($0.expiry) > now.timeIntervalSince1970 }
    // RFC 6265, section 5.4: a stable order, longer paths first.
    self.cookies = valid.enumerated().sorted { a, b in
      (-a.element.path.utf8.count, a.offset) < (-b.element.path.utf8.count, b.offset)
    }.map(\.element)
  }

  /// Returns the value of the `Cookie` header field for a request to `source`; nil if no cookie is for it.
  func field(for source: SourceURL, now: Date = Date()) -> String? {
    let time = now.timeIntervalSince1970
    let matching = cookies.filter { cookie in
      cookie.isFor(host: source.hostName) && cookie.isFor(path: source.requestPath)
        && (!cookie.isSecure || source.scheme == .https) && (cookie.expiry == 0 || Double(cookie.expiry) > time)
    }
    return matching.isEmpty ? nil : matching.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
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

/// A cookie of a file.
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
    guard let parsed, !name.isEmpty, !name.contains(where: { "/?#@".contains($0) }) else {
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
