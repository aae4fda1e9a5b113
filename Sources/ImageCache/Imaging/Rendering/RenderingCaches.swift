/// Intermediate results and processes that the rendering of one image keeps for the next.
struct RenderingCaches: Sendable {
  let kernels = KernelCache()
  let transforms: ColorTransformCache
  /// The places that decoders and renderers share.
  let places: DecoderPlaces
  let decoders: DecoderPool
  /// The processes that encode AVIF. They decode no image, so none can have taken them over; their memory is a part of
  /// the cost of an image.
  let encoders: DecoderPool
  /// The processes that render all formats but those of the decoders; nil if this process renders them.
  let renderers: DecoderPool?

  init(inks: InkProfile? = nil, isolation: DecoderIsolation = DecoderIsolation()) {
    transforms = ColorTransformCache(inks: inks)
    places = DecoderPlaces(limit: isolation.maxProcesses)
    decoders = DecoderPool(.decoder(isolation), isolation, places: places)
    encoders = DecoderPool(.decoder(isolation), isolation)
    renderers = isolation.scope == .all ? DecoderPool(.renderer(isolation), isolation, places: places) : nil
  }
}
