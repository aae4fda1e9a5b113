import CDecodeChannel

/// Renders thumbnails in a process of `thumbs`, which has the protections of `thumbs-decode`.
struct IsolatedRenderer {
  private let pool: DecoderPool

  init(_ pool: DecoderPool) { self.pool = pool }

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
    return try withFiles(try result.get(), order, plan)
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

  /// Returns a rendering whose pixels are replaced by files where the specs want them.
  private func withFiles(
    _ rendering: Renderer.Rendering, _ order: RenderOrder, _ plan: RenderPlan
  ) throws(ImageError) -> Renderer.Rendering {
    var rendering = rendering
    for step in plan.allSteps where order.isEncodedHere(step.spec) {
      guard let pixels = rendering.thumbnails[step.index].pixels else { continue }
      let file = try step.encoder.file(of: try Bitmap(pixels))
      rendering.thumbnails[step.index] = Thumbnail(
        spec: step.spec, size: pixels.size, format: file.format, bytes: file.bytes)
    }
    return rendering
  }
}

/// The text of a request to render thumbnails in another process: the limits, then one spec per line.
///
/// `order 100000000 0 67108864 error 0`
package struct RenderOrder: Sendable {
  /// The thumbnails to render.
  package var specs: [ThumbnailSpec]
  /// The renderer with the limits.
  package var renderer: Renderer
  /// The bytes of the ink profile that follows the text; 0 without a profile.
  package var inkCount: Int

  init(_ specs: [ThumbnailSpec], _ renderer: Renderer) {
    (self.specs, self.renderer) = (specs, renderer)
    inkCount = renderer.caches.transforms.inks?.bytes.count ?? 0
  }

  /// The thumbnails that the other process makes: pixels in place of files that it cannot make.
  var processSpecs: [ThumbnailSpec] {
    specs.map { spec in
      var spec = spec
      // A placeholder accepts planes, as an original does, which must not change the other thumbnails.
      if spec.format == .original {
        spec.format = .placeholder
      } else if isEncodedHere(spec) {
        (spec.format, spec.frames) = (.rgba, .first)
      }
      return spec
    }
  }

  /// Returns true for a thumbnail that the other process cannot encode: it cannot start an encoder of AVIF, and has no
  /// code that changes pixels.
  func isEncodedHere(_ spec: ThumbnailSpec) -> Bool {
    spec.format == .avif || renderer.process != nil && !spec.format.showsSource
  }

  /// The bytes of the ink profile.
  var inks: [UInt8] { renderer.caches.transforms.inks?.bytes ?? [] }

  /// The text.
  var text: String {
    let limits = [renderer.maxPixels, renderer.minPixels, renderer.maxOutputPixels].map { "\($0)" }
    let first = (["order"] + limits + [renderer.failLevel.rawValue, "\(inkCount)"]).joined(separator: " ")
    return ([first] + processSpecs.map(\.cacheText)).joined(separator: "\n")
  }

  /// Parses a ``text``; nil for any other. `base` returns the renderer for the ink profile of `inkCount` bytes that
  /// follows the text. Its kernels and color transforms are used again.
  package init?(_ text: String, base: (_ inkCount: Int) -> Renderer?) {
    var lines = text.split(separator: "\n").map(String.init)[...]
    guard let words = lines.popFirst()?.split(separator: " "), words.count == 6, words[0] == "order",
      let maxPixels = Int(words[1]), let minPixels = Int(words[2]), let maxOutputPixels = Int(words[3]),
      let failLevel = FailLevel(rawValue: String(words[4])), let inkCount = Int(words[5]), let base = base(inkCount)
    else { return nil }
    renderer = base
    renderer.maxPixels = maxPixels
    (renderer.minPixels, renderer.maxOutputPixels) = (minPixels, maxOutputPixels)
    renderer.failLevel = failLevel
    self.inkCount = inkCount
    specs = lines.compactMap(ThumbnailSpec.init(cacheText:))
    guard specs.count == lines.count else { return nil }
  }
}

/// The text of the outcome of rendering in another process: `whole`, `damaged` or `failed CODE MESSAGE`, then one line
/// for each thumbnail with its format, size and bytes, then the warnings.
///
/// `thumbnail jpeg 256 171 10240`
package struct RenderOutcome: Sendable {
  /// A thumbnail, whose bytes are elsewhere.
  struct Output: Hashable, Sendable {
    var format: OutputFormat
    var size: PixelSize
    var byteCount: Int
  }

  private(set) var outputs: [Output] = []
  private(set) var warnings: [String] = []
  private(set) var isDamaged = false
  /// The failure; nil if the thumbnails are rendered.
  private(set) var error: ImageError?

  /// The outcome of rendering in this process.
  package init(_ result: Result<Renderer.Rendering, ImageError>) {
    switch result {
    case .success(let rendering):
      outputs = rendering.thumbnails.map { Output(format: $0.format, size: $0.size, byteCount: $0.bytes.count) }
      (warnings, isDamaged) = (rendering.warnings, rendering.isDamaged)
    case .failure(let error): self.error = error
    }
  }

  /// The most warnings, and the most bytes of a warning or of the message of an error; the rest is left out.
  private static let (maxWarnings, maxLineBytes) = (64, 512)

  /// Returns the most bytes of a ``text`` about `count` thumbnails: with a generous line for each.
  static func maxTextBytes(of count: Int) -> Int { 128 * (count + 1) + maxWarnings * (maxLineBytes + 4) }

  /// Returns a line of bounded length. The end of a character that is cut becomes U+FFFD.
  private static func bounded(_ line: String) -> String {
    line.utf8.count <= maxLineBytes ? line : String(decoding: line.utf8.prefix(maxLineBytes), as: UTF8.self)
  }

  /// The text.
  package var text: String {
    if let error { return "failed \(error.code.rawValue) \(Self.bounded(error.message))" }
    let lines = outputs.map { "thumbnail \($0.format.rawValue) \($0.size.width) \($0.size.height) \($0.byteCount)" }
    let oddities = warnings.prefix(Self.maxWarnings).map(Self.bounded)
    return ([isDamaged ? "damaged" : "whole"] + lines + oddities).joined(separator: "\n")
  }

  /// Parses a ``text``; nil for any other.
  init?(_ text: String) {
    var lines = text.split(separator: "\n").map(String.init)[...]
    let first = lines.popFirst() ?? ""
    if first.hasPrefix("failed ") {
      let words = first.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let code = ImageError.Code(rawValue: String(words[1])) else { return nil }
      error = ImageError(code, DecodeText.clean(Self.bounded(String(words[2]))))
      // The limit of the process, so that another attempt would reach it, too.
      if code == .outOfMemory { error = ImageError(DecoderFailure.memory, of: "thumbs") }
      return
    }
    guard ["whole", "damaged"].contains(first) else { return nil }
    isDamaged = first == "damaged"
    while let line = lines.first, line.hasPrefix("thumbnail ") {
      guard let output = Output(line) else { return nil }
      outputs.append(output)
      lines.removeFirst()
    }
    warnings = lines.prefix(Self.maxWarnings).map { DecodeText.clean(Self.bounded($0)) }
  }
}

extension RenderOutcome.Output {
  /// Parses the line of a thumbnail.
  fileprivate init?(_ line: String) {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst(2).compactMap { Int($0) }
    guard words.count == 5, numbers.count == 3, numbers.allSatisfy({ $0 > 0 }),
      let format = OutputFormat(rawValue: String(words[1]))
    else { return nil }
    self.init(format: format, size: PixelSize(width: numbers[0], height: numbers[1]), byteCount: numbers[2])
  }
}

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
    guard let step = allSteps.first(where: { $0.index == index }), step.mayHave(size) else { return false }
    if frameCount > 1, spec.frames == .all, format == spec.animationFormat { return true }
    guard spec.format == .auto, let encoder = step.encoder as? any ImageEncoder else { return format.suits(spec) }
    return format == type(of: encoder).format
  }
}

extension RenderPlan {
  /// The bytes that are enough for the files of all thumbnails and a text about them: no format takes more than 8 bytes
  /// per pixel, besides its headers. An animation may have 256 MiB, of which only those that are written take memory.
  var outputBytes: Int {
    allSteps.reduce(64 << 10) { sum, step in
      let (bytes, frames) = (8 * step.largestSize.area, step.spec.frames == .all ? frameCount : 1)
      return sum + (4 << 10) * frames + max(bytes, min(bytes * frames, 256 << 20))
    }
  }
}

extension RenderPlan.Step {
  /// The largest size of the thumbnail. The border of the image, which only the other process knows, is at most half of
  /// each side, so without it a side is at most twice as long.
  fileprivate var largestSize: PixelSize {
    let (canvas, factor) = (geometry.canvas, spec.trim == nil ? 1 : 2)
    return PixelSize(width: canvas.width * factor, height: canvas.height * factor)
  }

  /// Returns true if the thumbnail may have this size.
  fileprivate func mayHave(_ size: PixelSize) -> Bool {
    guard spec.trim != nil else { return size == geometry.canvas }
    return size.width <= largestSize.width && size.height <= largestSize.height
  }
}
