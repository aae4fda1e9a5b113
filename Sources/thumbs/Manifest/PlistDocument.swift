import Foundation

/// A property list in XML, as Foundation's values.
enum PlistDocument {
  /// The value in `bytes`.
  static func parse(_ bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    var format = PropertyListSerialization.PropertyListFormat.xml
    do {
      let value = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
      // Foundation takes almost any text for a string in the old NeXT format.
      if format == .xml { return value }
    } catch {
      throw flaw(error.parserMessage)
    }
    throw DocumentFlaw(reason: "not a plist in XML or binary form")
  }

  /// The flaw that Foundation describes in `message`: `Encountered unknown tag html on line 2`.
  private static func flaw(_ message: String) -> DocumentFlaw {
    if message.contains("unexpected EOF") {
      return DocumentFlaw(reason: "the plist ends in the middle", position: .end)
    }
    for separator in [" on line ", " at line "] {
      if let range = message.range(of: separator, options: .backwards) {
        let (line, rest) = (message[range.upperBound...].prefix(while: \.isNumber), message[range.upperBound...])
        guard let line = Int(line) else { continue }
        let reason = message[..<range.lowerBound] + rest.drop(while: \.isNumber)
        return DocumentFlaw(reason: "not a valid plist: \(reason)", position: .line(line))
      }
    }
    return DocumentFlaw(reason: "not a valid plist: \(message)")
  }
}
