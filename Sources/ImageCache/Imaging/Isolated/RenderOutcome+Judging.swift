import CDecodeChannel

extension RenderOutcome {
  /// Returns the outcome that another process has written to `memory`: a text, of the size that `reply` says, and the
  /// files. Throws for an outcome that is not one of `plan`, whatever the process has written. The text and each file
  /// are copied before they are checked, because the process may still be writing.
  static func judged(
    _ memory: SharedMemory, _ reply: DecodeReply, _ specs: [ThumbnailSpec], _ source: SourceImage, _ plan: RenderPlan
  ) throws(DecoderFailure) -> Result<Renderer.Rendering, ImageError> {
    guard reply.textCount <= min(maxTextBytes(of: specs.count), memory.count),
      let outcome = RenderOutcome(String(decoding: memory.copied(0..<Int(reply.textCount)), as: UTF8.self))
    else { throw .misbehavior("it sent an outcome that makes no sense") }
    if let error = outcome.error { return .failure(error) }
    return .success(
      Renderer.Rendering(
        source: source, thumbnails: try outcome.thumbnails(memory, from: Int(reply.textCount), specs, plan),
        warnings: outcome.warnings, isDamaged: outcome.isDamaged))
  }

  /// Returns the thumbnails, whose files are in `memory` from `start` on, one after the other.
  private func thumbnails(
    _ memory: SharedMemory, from start: Int, _ specs: [ThumbnailSpec], _ plan: RenderPlan
  ) throws(DecoderFailure) -> [Thumbnail] {
    guard outputs.count == specs.count else { throw .misbehavior("it sent another number of thumbnails") }
    var (thumbnails, start) = ([Thumbnail](), start)
    for (index, output) in outputs.enumerated() {
      guard output.byteCount <= memory.count - start, plan.expects(output.format, output.size, specs[index], at: index)
      else { throw Self.otherThumbnail }
      let end = start + output.byteCount
      let thumbnail = Thumbnail(
        spec: specs[index], size: output.size, format: output.format, bytes: memory.copied(start..<end))
      guard thumbnail.isWhole else { throw Self.otherThumbnail }
      thumbnails.append(thumbnail)
      start = end
    }
    return thumbnails
  }

  private static let otherThumbnail = DecoderFailure.misbehavior("it sent another thumbnail than the one that was due")
}

extension RenderPlan {
  /// Returns true if the thumbnail of a spec, by its index, has this format and size. `spec` is the one that the other
  /// process has got, for pixels in place of AVIF.
  fileprivate func expects(_ format: OutputFormat, _ size: PixelSize, _ spec: ThumbnailSpec, at index: Int) -> Bool {
    guard let step = allSteps.first(where: { $0.index == index }), step.geometry.canvas == size else { return false }
    guard spec.format == .auto, let encoder = step.encoder as? any ImageEncoder else { return format.suits(spec) }
    return format == type(of: encoder).format
  }
}
