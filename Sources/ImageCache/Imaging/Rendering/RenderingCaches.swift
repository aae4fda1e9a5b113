/// Intermediate results that the rendering of one image keeps for the next.
struct RenderingCaches: Sendable {
  let kernels = KernelCache()
  let transforms: ColorTransformCache

  init(inks: InkProfile? = nil) { transforms = ColorTransformCache(inks: inks) }
}
