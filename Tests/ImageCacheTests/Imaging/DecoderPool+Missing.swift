@testable import ImageCache

extension DecoderPool {
  /// The pool of a program that is not installed.
  static var missing: DecoderPool { DecoderPool(nil, DecoderIsolation()) }
}
