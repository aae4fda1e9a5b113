@testable import ImageCache

extension DecoderPool {
  /// A pool of a program that is not installed.
  static var missing: DecoderPool { DecoderPool(nil, DecoderIsolation()) }
}

extension DecoderPools {
  /// The pools of programs that are not installed.
  static var missing: DecoderPools { DecoderPools(images: .missing, documents: .missing) }
}

extension RenderPlan {
  /// Plans thumbnails without the program that encodes AVIF.
  init(_ decoder: some ImageDecoder, specs: [ThumbnailSpec]) {
    self.init(decoder, specs: specs, encoders: .missing)
  }
}
