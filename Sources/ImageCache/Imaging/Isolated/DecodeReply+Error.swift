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
    guard let code = Self.codes[status] else { throw .misbehavior("it sent a status that does not exist") }
    var error = ImageError(code, reason: text.errorLine)
    // The limit of the process, so that another attempt would reach it, too.
    if status == DecodeStatusOutOfMemory.rawValue { error.origin = .machine }
    return error
  }

  private static let codes: [UInt32: ImageError.Code] = [
    DecodeStatusTruncated.rawValue: .truncated, DecodeStatusCorrupt.rawValue: .decodeError,
    DecodeStatusUnsupported.rawValue: .unsupportedFormat, DecodeStatusTooManyPixels.rawValue: .tooManyPixels,
    DecodeStatusLimit.rawValue: .decodeLimit, DecodeStatusOutOfMemory.rawValue: .decodeLimit,
    DecodeStatusNotAnImage.rawValue: .notAnImage,
  ]
}

extension DecodeText {
  /// The error, without control characters: it comes from a library that has read hostile bytes.
  var errorLine: String { Self.clean(String.text(inArray: error)) }

  /// The warnings, each a line, without control characters.
  var warningLines: [String] { String.text(inArray: warnings).split(separator: "\n").map { Self.clean(String($0)) } }

  /// Replaces control characters, which could change what a terminal shows, by spaces.
  static func clean(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}
