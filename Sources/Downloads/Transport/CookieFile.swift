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
  public struct Flaw: Error, Hashable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The description of the error: the end of a sentence, without its period.
    public let reason: String
  }

  /// The cookies that had not expired when the file was read, those with the longest path first.
  private let cookies: [Cookie]

  /// Reads a file. Expired cookies are left out.
  ///
  /// - Throws: A ``Flaw`` for a line that is not a cookie.
  public init(_ text: String) throws(Flaw) { try self.init(text, now: Date()) }

  init(_ text: String, now: Date) throws(Flaw) {
    var cookies: [Cookie] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (number, line) in zip(1..., lines) where !Self.isSkipped(line) {
      do throws(CookieFlaw) {
        cookies.append(try Cookie(line))
      } catch {
        throw Flaw(line: number, reason: error.reason)
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
