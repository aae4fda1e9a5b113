// Renders arbitrary bytes in any format. The last bytes choose the thumbnails: sizes, crops, enlarging, light, filters,
// formats and the tolerance of damage.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 12 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var choices = Array(bytes.suffix(12))
  var renderer = Renderer(maxPixels: 1 << 16)
  renderer.maxOutputPixels = 1 << 14
  renderer.failLevel = pick(FailLevel.allCases, &choices)
  let specs = (0..<Int(1 + choices.removeLast() % 3)).map { _ in spec(&choices) }
  do throws(ImageError) {
    let rendering = try renderer.render(bytes, specs: specs)
    check(rendering, specs, mayBeDamaged: renderer.failLevel)
  } catch {
    if error.message.isEmpty { fatalError("no message") }
  }
  return 0
}

/// Chooses an element with the next choice; the first one if none is left.
private func pick<Element>(_ elements: [Element], _ choices: inout [UInt8]) -> Element {
  elements[Int(choices.popLast() ?? 0) % elements.count]
}

private func spec(_ choices: inout [UInt8]) -> ThumbnailSpec {
  var spec = stillSpec(&choices)
  if spec.format == .auto { spec.frames = pick(ThumbnailSpec.Frames.allCases, &choices) }
  return spec
}

private func stillSpec(_ choices: inout [UInt8]) -> ThumbnailSpec {
  ThumbnailSpec(
    width: 1 + Int(choices.popLast() ?? 30) % 90, height: 1 + Int(choices.popLast() ?? 30) % 90,
    fit: pick(ThumbnailSpec.Fit.allCases, &choices),
    gravity: pick(Gravity.named.map(\.gravity) + [.smart], &choices), enlargement: pick([.never, .allowed], &choices),
    format: pick([.auto, .jpeg, .png], &choices), quality: pick([82, 95], &choices),
    filter: pick(ThumbnailSpec.Filter.allCases, &choices), light: pick([.perceptual, .linear], &choices))
}

/// Fails if a thumbnail is not an image of the size that it claims, or if damage is tolerated without a warning.
private func check(_ rendering: Renderer.Rendering, _ specs: [ThumbnailSpec], mayBeDamaged level: FailLevel) {
  if rendering.thumbnails.map(\.spec) != specs { fatalError("other thumbnails") }
  if rendering.isDamaged && (rendering.warnings.isEmpty || level == .error || level == .warning) {
    fatalError("damage at level \(level)")
  }
  for thumbnail in rendering.thumbnails {
    let again = try? Renderer().render(thumbnail.bytes, specs: [ThumbnailSpec(width: 8)])
    if again?.source.size != thumbnail.size { fatalError("\(thumbnail.size) became \(String(describing: again))") }
  }
}
