import CDecodeChannel

extension RenderOutcome {
  /// Returns the outcome that another process has written to `memory`: a text, of the size that `reply` says, and the
  /// files. Throws for an outcome that is not one of `plan`, whatever the process has written.
  static func judged(
    _ memory: UnsafeRawBufferPointer, _ reply: DecodeReply, _ specs: [ThumbnailSpec], _ source: SourceImage,
    _ plan: RenderPlan
  ) throws(DecoderFailure) -> Result<Renderer.Rendering, ImageError> {
    guard reply.textCount <= memory.count,
      let outcome = RenderOutcome(String(decoding: memory.prefix(Int(reply.textCount)), as: UTF8.self))
    else { throw .misbehavior("it sent an outcome that makes no sense") }
    if let error = outcome.error { return .failure(error) }
    let files = UnsafeRawBufferPointer(rebasing: memory.dropFirst(Int(reply.textCount)))
    return .success(
      Renderer.Rendering(
        source: source, thumbnails: try outcome.thumbnails(files, specs, plan), warnings: outcome.warnings,
        isDamaged: outcome.isDamaged))
  }

  /// Returns the thumbnails, whose files are in `files`, one after the other.
  private func thumbnails(
    _ files: UnsafeRawBufferPointer, _ specs: [ThumbnailSpec], _ plan: RenderPlan
  ) throws(DecoderFailure) -> [Thumbnail] {
    guard outputs.count == specs.count else { throw .misbehavior("it sent another number of thumbnails") }
    var (thumbnails, rest) = ([Thumbnail](), files[...])
    for (index, output) in outputs.enumerated() {
      let (spec, file) = (specs[index], rest.prefix(output.byteCount))
      guard file.count == output.byteCount, plan.size(of: index) == output.size, output.format.suits(spec),
        output.format != .rgba || file.count == output.size.area * 4
      else {
        throw .misbehavior("it sent another thumbnail than the one that was due")
      }
      thumbnails.append(Thumbnail(spec: spec, size: output.size, format: output.format, bytes: Array(file)))
      rest = rest.dropFirst(output.byteCount)
    }
    return thumbnails
  }
}
