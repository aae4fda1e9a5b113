/// What the rendering of one image leaves for the next.
struct RenderingCaches: Sendable {
  let kernels = KernelCache()
  let transforms = ColorTransformCache()
}
