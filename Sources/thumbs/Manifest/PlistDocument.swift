import Foundation

/// A parser that turns an XML property list into Foundation's values.
enum PlistDocument {
  /// Returns the value in `bytes`.
  static func parse(_ bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    var format = PropertyListSerialization.PropertyListFormat.xml
    do {
      let value = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
      // Foundation also accepts the old NeXT format, in which almost any text is a valid string.
      if format == .xml { return value }
    } catch {
      throw flaw(error.parserMessage)
    }
    throw DocumentFlaw(reason: "not a plist in XML or binary form")
  }

  /// The error that Foundation describes in `message`, such as `Encountered unknown tag html on line 2`.
  private static func flaw(_ message: String) -> DocumentFlaw {
    if message.contains("unexpected EOF") {
      return DocumentFlaw(reason: "the plist ends unexpectedly", position: .end)
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
