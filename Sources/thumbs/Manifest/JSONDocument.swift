import Foundation

/// A parser that turns JSON text into Foundation's values.
enum JSONDocument {
  /// Returns the value in `bytes`. An unpaired surrogate (`\ud800` alone), which encodes no character, becomes U+FFFD,
  /// as in browsers (Web IDL, `USVString`).
  static func parse(_ bytes: [UInt8]) throws(DocumentFlaw) -> Any {
    do {
      return try JSONSerialization.jsonObject(with: Data(mendingSurrogates(in: bytes)), options: .fragmentsAllowed)
    } catch {
      throw flaw(error.parserMessage)
    }
  }

  private static func mendingSurrogates(in bytes: [UInt8]) -> [UInt8] {
    guard let first = bytes.firstIndex(of: UInt8(ascii: "\\")) else { return bytes }
    var mended = bytes
    var index = first
    while index + 1 < bytes.count {
      switch codeUnit(in: bytes, at: index) {
      case .some(0xD800...0xDBFF) where isLowSurrogate(codeUnit(in: bytes, at: index + 6)): index += 12
      case .some(0xD800...0xDFFF):
        mended.replaceSubrange(index + 2..<index + 6, with: "fffd".utf8)
        index += 6
      default: index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
      }
    }
    return mended
  }

  private static func isLowSurrogate(_ unit: UInt16?) -> Bool { unit.map { (0xDC00...0xDFFF).contains($0) } ?? false }

  /// The code unit of an escape such as `\u00e9` at `index`; nil if there is no escape.
  private static func codeUnit(in bytes: [UInt8], at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    let digits = bytes[index + 2..<index + 6]
    return digits.contains(UInt8(ascii: "+")) ? nil : UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// The error that Foundation describes in `message`, such as `Invalid value around character 13.`
  private static func flaw(_ message: String) -> DocumentFlaw {
    if message.contains("end of file") {
      return DocumentFlaw(reason: "the JSON ends unexpectedly", position: .end)
    }
    guard let range = message.range(of: " around character "),
      let offset = Int(message[range.upperBound...].prefix(while: \.isNumber))
    else { return DocumentFlaw(reason: "not valid JSON: \(message)") }
    return DocumentFlaw(reason: "not valid JSON: \(message[..<range.lowerBound])", position: .offset(offset))
  }
}

extension Error {
  /// The message of one of Foundation's parsers, without its period.
  var parserMessage: String {
    let error = self as NSError
    let message = error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    return message.hasSuffix(".") ? String(message.dropLast()) : message
  }
}
