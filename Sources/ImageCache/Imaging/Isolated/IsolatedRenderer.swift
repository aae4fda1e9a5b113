import CDecodeChannel

/// Renders thumbnails in a process of `thumbs`, which has the protections of `thumbs-decode`.
struct IsolatedRenderer {
  private let pool: DecoderPool
  /// The processes that encode AVIF, which a renderer in a sandbox cannot start.
  private let encoders: DecoderPool

  init(_ pool: DecoderPool, encoders: DecoderPool) { (self.pool, self.encoders) = (pool, encoders) }

  /// Renders the thumbnails of a whole file. `source` and `plan` say what its header promises, by which the outcome is
  /// judged.
  ///
  /// - Parameters:
  ///   - memory: Grants the memory of the image, after there is a process for it.
  ///   - cost: The number of bytes.
  func render(
    _ bytes: [UInt8], _ order: RenderOrder, source: SourceImage, _ plan: RenderPlan, memory gate: MemoryGate, cost: Int
  ) throws(ImageError) -> Renderer.Rendering {
    let result: Result<Renderer.Rendering, ImageError>
    var isGranted = false
    defer { if isGranted { gate.leave(cost) } }
    do throws(DecoderFailure) {
      result = try pool.withProcess { process throws(DecoderFailure) in
        gate.enter(cost)
        isGranted = true
        return try exchange(bytes, order, source: source, plan, with: &process)
      }
    } catch {
      throw ImageError(error, of: "thumbs")
    }
    return try withFiles(try result.get(), order.specs)
  }

  private func exchange(
    _ bytes: [UInt8], _ order: RenderOrder, source: SourceImage, _ plan: RenderPlan, with process: inout DecoderProcess
  ) throws(DecoderFailure) -> Result<Renderer.Rendering, ImageError> {
    let text = Array(order.text.utf8)
    let (file, output): (SharedMemory, SharedMemory)
    do throws(ImageError) {
      file = try SharedMemory(holding: bytes.span)
      output = try SharedMemory(count: max(text.count + order.inks.count, plan.outputBytes))
    } catch {
      return .failure(error)
    }
    output.write(text + order.inks)
    var (opening, rendering) = (DecodeRequest(step: DecodeStepOpen), DecodeRequest(step: DecodeStepDecode))
    opening.byteCount = UInt64(bytes.count)
    rendering.textCount = UInt64(text.count)
    let deadline = ContinuousClock.now + pool.timeout
    _ = try checked(try process.exchange(opening, file.descriptor, until: deadline))
    let reply = try checked(try process.exchange(rendering, output.descriptor, until: deadline))
    return try RenderOutcome.judged(output, reply, order.processSpecs, source, plan)
  }

  /// Returns the reply if the process did the step. The outcome of an image, also its failure, is in the memory.
  private func checked(_ reply: DecodeReply) throws(DecoderFailure) -> DecodeReply {
    switch reply.status {
    case DecodeStatusOK.rawValue: return reply
    case DecodeStatusOutOfMemory.rawValue: throw .memory
    default: throw .misbehavior("it sent the status \(reply.status)")
    }
  }

  /// Returns a rendering whose pixels are replaced by AVIF files where the specs want them.
  private func withFiles(
    _ rendering: Renderer.Rendering, _ specs: [ThumbnailSpec]
  ) throws(ImageError) -> Renderer.Rendering {
    var rendering = rendering
    for (index, spec) in specs.enumerated() where spec.format == .avif {
      let pixels = rendering.thumbnails[index]
      let file = try AVIFEncoder(spec, encoders).file(of: pixels.bytes, pixels.size)
      rendering.thumbnails[index] = Thumbnail(spec: spec, size: pixels.size, format: file.format, bytes: file.bytes)
    }
    return rendering
  }
}
