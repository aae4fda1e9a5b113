import Foundation

/// JSON text as Foundation's values.
enum JSONDocument {
  /// The value in `bytes`.
  static func parse(_ bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    do {
      return try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    } catch {
      throw flaw(error.parserMessage)
    }
  }

  /// The flaw that Foundation describes in `message`, of the form `Invalid value around character 13.`
  private static func flaw(_ message: String) -> DocumentFlaw {
    if message.contains("end of file") {
      return DocumentFlaw(reason: "the JSON ends in the middle", position: .end)
    }
    guard let range = message.range(of: " around character "),
      let offset = Int(message[range.upperBound...].prefix(while: \.isNumber))
    else { return DocumentFlaw(reason: "not valid JSON: \(message)") }
    return DocumentFlaw(reason: "not valid JSON: \(message[..<range.lowerBound])", position: .offset(offset))
  }
}

extension Error {
  /// What Foundation's parsers say, without a full stop.
  var parserMessage: String {
    let error = self as NSError
    let message = error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    return message.hasSuffix(".") ? String(message.dropLast()) : message
  }
}
