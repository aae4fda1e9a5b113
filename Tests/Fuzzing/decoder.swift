// Takes arbitrary bytes for the messages of thumbs-decode: directly, and from a program that replies with them.

import CDecodeChannel

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  checkHello(message(bytes, DecodeHello()))
  checkReply(message(bytes, DecodeReply()))
  // The signature of compressed SVG, which leads to the program.
  render([0x1F, 0x8B, 0x08] + bytes)
  return 0
}

/// Returns a message with the given bytes. Those that are missing stay as they are.
private func message<Message: BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer, _ empty: Message) -> Message {
  var message = empty
  withUnsafeMutableBytes(of: &message) { $0.copyMemory(from: .init(rebasing: bytes.prefix($0.count))) }
  return message
}

private func checkHello(_ hello: DecodeHello) {
  checkLines(hello.libraryNames)
  if hello.sourceFormats.count > IsolatedFormat.all.count || hello.protectionNames.count > 5 { fatalError("too many") }
}

private func checkReply(_ reply: DecodeReply) {
  checkLines(reply.text.warningLines + [reply.text.errorLine])
  if reply.status == 0, (try? reply.error()) != .some(nil) { fatalError("an error without a status") }
  guard let header = try? IsolatedHeader(reply) else { return }
  if header.profileCount > DecodingLimits.maxProfileBytes || header.halvings > 32 { fatalError("\(header)") }
}

/// Fails if a line has a control character, which could change what a terminal shows.
private func checkLines(_ lines: [String]) {
  for scalar in lines.joined().unicodeScalars where scalar.properties.generalCategory == .control {
    fatalError("\(scalar.value)")
  }
}

private let renderer = {
  var isolation = DecoderIsolation()
  isolation.program = "./replies"
  var renderer = Renderer(maxPixels: 1 << 16, isolation: isolation)
  renderer.failLevel = FailLevel.none
  return renderer
}()

private func render(_ image: [UInt8]) {
  let spec = ThumbnailSpec(width: 20, height: 30, fit: image.count % 2 == 0 ? .inside : .cover, format: .png)
  do throws(ImageError) {
    let rendering = try renderer.render(image, specs: [spec])
    if rendering.thumbnails.count != 1 { fatalError("other thumbnails") }
    checkLines(rendering.warnings)
  } catch {
    if error.message.isEmpty || error.code == .unsupportedFormat && error.message.contains("needs") {
      fatalError("\(error)")
    }
    checkLines([error.message])
  }
}
