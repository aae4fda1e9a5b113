import CDecodeChannel
import Glibc
import ImageCache

/// The image that is open in a process that renders for another one.
struct RenderSession {
  private var image: [UInt8] = []
  /// The renderer of the last image, and the profile that it has for CMYK images.
  private var (renderer, inks) = (Renderer(), [UInt8]())

  /// Carries out a request: opens an image, or renders its thumbnails into the memory file.
  mutating func reply(to request: DecodeRequest, _ descriptor: Int32) -> DecodeReply {
    var reply = DecodeReply()
    let done: Bool
    if request.step == DecodeStepOpen.rawValue {
      done = open(descriptor, Int(clamping: request.byteCount))
    } else {
      reply.textCount = UInt64(render(descriptor, textCount: Int(clamping: request.textCount)) ?? 0)
      done = reply.textCount > 0
    }
    reply.status = done ? DecodeStatusOK.rawValue : DecodeStatusOutOfMemory.rawValue
    return reply
  }

  private mutating func open(_ descriptor: Int32, _ count: Int) -> Bool {
    guard let memory = MappedFile(descriptor, PROT_READ), count <= memory.count else { return false }
    image = memory.copied(0..<count)
    return true
  }

  /// Replaces the text in a memory file by that of the outcome, followed by the thumbnails. Returns the size of the
  /// text; nil if the file is too small.
  private mutating func render(_ descriptor: Int32, textCount: Int) -> Int? {
    guard let memory = MappedFile(descriptor, PROT_READ | PROT_WRITE), textCount <= memory.count else {
      return nil
    }
    let text = String(decoding: memory.copied(0..<textCount), as: UTF8.self)
    let result = rendering(text) { memory.copied(textCount..<textCount + min(max(0, $0), memory.count - textCount)) }
    image = []
    let outcome = Array(RenderOutcome(result).text.utf8)
    let files = (try? result.get())?.thumbnails.map(\.bytes) ?? []
    return memory.write([outcome] + files) ? outcome.count : nil
  }

  private mutating func rendering(
    _ text: String, inks: (_ count: Int) -> [UInt8]
  ) -> Result<Renderer.Rendering, ImageError> {
    guard let order = RenderOrder(text, base: { renderer(inks: inks($0)) }) else {
      return .failure(ImageError(.badSpec, "The request is of another version."))
    }
    return Result { () throws(ImageError) in try order.renderer.render(image, specs: order.specs) }
  }

  /// Returns the renderer of the last image, or another one if the profile differs; nil if it is not valid.
  private mutating func renderer(inks: [UInt8]) -> Renderer? {
    guard inks != self.inks else { return renderer }
    let profile = try? InkProfile(inks)
    guard profile != nil || inks.isEmpty else { return nil }
    (renderer, self.inks) = (Renderer(inks: profile), inks)
    return renderer
  }
}
