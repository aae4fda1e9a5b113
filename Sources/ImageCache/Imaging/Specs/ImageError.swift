/// Why bytes did not become thumbnails.
public struct ImageError: Error, Hashable, Sendable {
  /// The cause, stable across versions; the raw value is the `code` of a report.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// The spec of a thumbnail is out of range: a fault of the request, not of the file.
    case badSpec = "bad_spec"
    /// Not a picture at all: a web page, text, or something without a known signature.
    case notAnImage = "not_an_image"
    /// A picture, in a format or a variant of one that is not decoded here; the message names it.
    case unsupportedFormat = "unsupported_format"
    /// The header declares more pixels than the limit allows.
    case tooManyPixels = "too_many_pixels"
    /// The file ends before its picture does.
    case truncated
    /// The file is damaged.
    case decodeError = "decode_error"
    /// The file asks for more work or memory than a picture of its size should.
    case decodeLimit = "decode_limit"
    /// There was no memory for the picture now.
    case outOfMemory = "out_of_memory"

    /// Whether the same bytes would fail again. False where the caller's spec, a limit of the caller's or of the machine is the reason,
    /// and for a file that is cut off: the next transfer may bring all of it.
    public var isFinal: Bool {
      switch self {
      case .notAnImage, .unsupportedFormat, .decodeError, .decodeLimit: true
      case .badSpec, .tooManyPixels, .truncated, .outOfMemory: false
      }
    }
  }

  /// The cause.
  public var code: Code
  /// One sentence for a person, with the decoder's own words where it had some.
  public var message: String

  /// An error of `code`, explained by `message`.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension ImageError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
