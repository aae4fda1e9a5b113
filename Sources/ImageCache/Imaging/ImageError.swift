public import Foundation

/// The reason an image could not be rendered.
public struct ImageError: Error, Hashable, Sendable {
  /// The cause, stable across versions; the raw value is the `code` of a report.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// A thumbnail spec is out of range: a fault of the request, not of the file.
    case badSpec = "bad_spec"
    /// Not an image: a web page, text, or bytes without a known signature.
    case notAnImage = "not_an_image"
    /// An image in a format, or a variant of one, that cannot be decoded; the message names it.
    case unsupportedFormat = "unsupported_format"
    /// The header declares more pixels than the limit allows.
    case tooManyPixels = "too_many_pixels"
    /// The header declares fewer pixels than the caller wants.
    case tooFewPixels = "too_few_pixels"
    /// The header declares an image that is longer, compared with its other side, than the caller wants.
    case tooLong = "too_long"
    /// The document has fewer pages than the caller wants.
    case noPage = "no_page"
    /// The file ends before its image data does, or a download before its declared length.
    case truncated
    /// The file is corrupt.
    case decodeError = "decode_error"
    /// Decoding would take more work or memory than an image of this size should.
    case decodeLimit = "decode_limit"
    /// The file of a thumbnail is longer than its limit, even at the lowest quality.
    case outputTooLarge = "output_too_large"
    /// There was not enough memory to render the image.
    case outOfMemory = "out_of_memory"

    /// True if the same bytes would fail again, unless the machine is at fault. See ``ImageError/isFinal``.
    package var isFinal: Bool {
      switch self {
      case .notAnImage, .unsupportedFormat, .decodeError, .decodeLimit: true
      case .badSpec, .tooManyPixels, .tooFewPixels, .tooLong, .noPage, .truncated, .outputTooLarge, .outOfMemory:
        false
      }
    }
  }

  /// The place of a fault.
  public enum Origin: Hashable, Sendable {
    /// The file, or the request.
    case file
    /// The machine that renders: it lacks a decoder, or a decoder took too long or failed. The same bytes may succeed
    /// later, or on another machine, so the failure is not cached.
    case machine
  }

  /// The cause.
  public var code: Code
  /// One human-readable sentence, including the codec library's own message if there is one.
  public var message: String
  /// The place of the fault. Default ``Origin/file``.
  public var origin: Origin

  /// True if the same bytes would fail again, on any machine. A program may remember this.
  ///
  /// False if the cause is the caller's spec, the caller's limit, a lack of memory or a missing decoder, and for a
  /// truncated file, because the next transfer may be complete.
  public var isFinal: Bool { code.isFinal && origin == .file }

  /// Creates an error.
  public init(_ code: Code, _ message: String, origin: Origin = .file) {
    self.code = code
    self.message = message
    self.origin = origin
  }
}

extension ImageError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message, which is also the `localizedDescription`.
  public var errorDescription: String? { message }
}
