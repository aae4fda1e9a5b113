import CDecodeChannel

extension DecodeRequest {
  /// Creates a request without fields.
  init(step: DecodeStep) {
    self.init()
    self.step = step.rawValue
  }
}

extension DecodeReply {
  /// The error that the reply reports; nil for success. Throws for a status that does not exist.
  func error() throws(DecoderFailure) -> ImageError? {
    guard status != DecodeStatusOK.rawValue else { return nil }
    guard let (code, sentence) = Self.meanings[status] else {
      throw .misbehavior("it sent a status that does not exist")
    }
    let reason = text.errorLine
    return ImageError(code, reason.isEmpty ? "\(sentence)." : "\(sentence): \(reason).")
  }

  private static let meanings: [UInt32: (ImageError.Code, String)] = [
    DecodeStatusTruncated.rawValue: (.truncated, "The image data is truncated"),
    DecodeStatusCorrupt.rawValue: (.decodeError, "The image is corrupt"),
    DecodeStatusUnsupported.rawValue: (.unsupportedFormat, "This variant of the format is not supported"),
    DecodeStatusTooManyPixels.rawValue: (.tooManyPixels, "The image has more pixels than allowed"),
    DecodeStatusLimit.rawValue: (.decodeLimit, "Decoding the image would take too much work or memory"),
    DecodeStatusOutOfMemory.rawValue: (.outOfMemory, "Out of memory for the image"),
    DecodeStatusNotAnImage.rawValue: (.notAnImage, "The file is not an image"),
  ]
}

extension DecodeText {
  /// The error, without control characters: it comes from a library that has read hostile bytes.
  var errorLine: String { Self.clean(Self.text(error)) }

  /// The warnings, each a line, without control characters.
  var warningLines: [String] { Self.text(warnings).split(separator: "\n").map { Self.clean(String($0)) } }

  /// Replaces control characters, which could change what a terminal shows, by spaces.
  static func clean(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }

  /// Returns the text of a C array of characters, up to its NUL or its end.
  static func text<Characters: BitwiseCopyable>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
