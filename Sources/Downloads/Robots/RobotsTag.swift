internal import HTTPTypes

/// A directive of the header field `X-Robots-Tag` that forbids the use of an image, with its name in the field.
enum RobotsTag: String, CaseIterable, Sendable {
  /// The response must not be indexed.
  case noIndex = "noindex"
  /// The images of the response must not be indexed.
  case noImageIndex = "noimageindex"
  /// The response must not be used for machine learning.
  case noAI = "noai"
  /// The images of the response must not be used for machine learning.
  case noImageAI = "noimageai"
  /// Equivalent to `noindex, nofollow`.
  case nothing = "none"

  /// Returns the first directive in `fields` that forbids the use and applies to the crawler; nil if there is none.
  ///
  /// A directive applies to all crawlers, or to the one whose name and a colon precede it in the same field, such as
  /// `X-Robots-Tag: examplebot: noarchive, noindex`.
  ///
  /// - Parameters:
  ///   - fields: The header fields of a response.
  ///   - productToken: The name of the crawler. Letters are compared without regard to their case.
  static func first(in fields: HTTPFields, productToken: String) -> RobotsTag? {
    guard let name = HTTPField.Name("X-Robots-Tag") else { return nil }
    var bytesLeft = maxBytes
    for value in fields[values: name] {
      let start = value.utf8.prefix(bytesLeft)
      if let tag = first(in: String(decoding: start, as: UTF8.self), productToken: productToken) { return tag }
      bytesLeft -= start.count
    }
    return nil
  }

  /// The bytes of all fields that are read, since this happens on the thread of all transfers.
  private static let maxBytes = 8 << 10

  private static func first(in value: String, productToken: String) -> RobotsTag? {
    var applies = true
    for part in value.split(separator: ",") {
      var directive = part
      if let (agent, rest) = split(part) {
        let token = RobotsFile.productToken(in: Array(agent.utf8)[...])
        applies = agent == "*" || RobotsFile.isEqual(token, productToken.utf8)
        directive = rest
      }
      if applies, let tag = RobotsTag(rawValue: name(of: directive)) { return tag }
    }
    return nil
  }

  /// Returns the name of the crawler at the beginning of `part` and the directive after it; nil if there is no name. A
  /// colon may instead belong to a directive with a value, such as `max-snippet:20`, or to the time in a date.
  private static func split(_ part: Substring) -> (agent: String, directive: Substring)? {
    guard let colon = part.firstIndex(of: ":") else { return nil }
    let (agent, name) = (part[..<colon].trimmed, name(of: part))
    let isDirective = valued.contains(name) || RobotsTag(rawValue: name) != nil
    guard !isDirective, !agent.isEmpty, !agent.contains(where: \.isWhitespace) else { return nil }
    return (agent, part[part.index(after: colon)...])
  }

  /// The directives that have a value after a colon.
  private static let valued: Set = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]

  /// Returns the beginning of `directive` without its value, in lower case.
  private static func name(of directive: Substring) -> String {
    directive.prefix { $0 != ":" }.trimmed.lowercased()
  }

  /// The failure of a request whose response has the directive.
  var failure: FetchFailure {
    FetchFailure(.blockedRobots, "The header field X-Robots-Tag of the response forbids the use: \(rawValue).")
  }
}
