import Foundation

/// A property list, XML or binary, as Foundation's values.
enum PlistDocument {
  /// The value in `bytes`.
  static func parse(_ bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    var format = PropertyListSerialization.PropertyListFormat.xml
    do {
      let value = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
      // Foundation takes almost any text for a string in the old NeXT format.
      if format != .openStep { return value }
    } catch {
      if !isBinary(bytes) { throw flaw(error.parserMessage) }
    }
    let reason = isBinary(bytes) ? "the binary plist is damaged" : "not a plist in XML or binary form"
    throw DocumentFlaw(reason: reason)
  }

  private static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

  /// The flaw that Foundation describes in `message`: `Encountered unknown tag html on line 2`.
  private static func flaw(_ message: String) -> DocumentFlaw {
    if message.contains("unexpected EOF") {
      return DocumentFlaw(reason: "the plist ends in the middle", position: .end)
    }
    for separator in [" on line ", " at line "] {
      if let range = message.range(of: separator, options: .backwards), let line = Int(message[range.upperBound...]) {
        return DocumentFlaw(reason: "not a valid plist: \(message[..<range.lowerBound])", position: .line(line))
      }
    }
    return DocumentFlaw(reason: "not a valid plist: \(message)")
  }
}
