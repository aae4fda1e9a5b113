import Synchronization

extension IsolatedDecoder: AnimationDecoder {
  /// Returns the frames of an AVIF sequence. The decoder decodes nothing after that: its process may be needed.
  func animation(of file: Span<UInt8>) throws(ImageError) -> Animation? {
    let header = image.header
    guard header.frameCount > 1 else { return nil }
    let durations = try image.durations()
    let pass = AVIFSequencePass(decoder: self)
    let area = AnimationArea(size: header.size)
    var animation = Animation(loops: header.loops)
    animation.frames = durations.enumerated().map { index, duration in
      let frame = IsolatedFrame(index: index, isLast: index == durations.count - 1)
      return AnimationFrame(
        area: area, duration: AnimationFrame.shown(milliseconds: duration), blending: .overwriting,
        decoder: AVIFFrameDecoder(frame: frame, pass: pass))
    }
    return animation
  }
}

/// Decodes one frame of an AVIF sequence.
private struct AVIFFrameDecoder: FrameDecoder {
  let frame: IsolatedFrame
  let pass: AVIFSequencePass

  var peakBytes: Int { pass.decoder.peakBytes }

  func prepare(_ file: Span<UInt8>) throws(ImageError) { try pass.begin(file) }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    try pass.decoder.decode(frame, of: try pass.image(), colors, into: sink, warnings: &warnings)
  }
}

/// The sequence that is open in a process, which decodes the frames in their order because most of them are stored as
/// changes of the one before. It is opened again for another pass.
private final class AVIFSequencePass: Sendable {
  let decoder: IsolatedDecoder
  private let open = Mutex<IsolatedImage?>(nil)

  /// The limit of the time of all frames, in that of an image. A process has no more time for an image.
  private static let timeouts = 4

  init(decoder: IsolatedDecoder) { self.decoder = decoder }

  /// Opens the sequence.
  func begin(_ file: Span<UInt8>) throws(ImageError) {
    // The process of an earlier pass that was not finished must have ended: there may be only one place.
    _ = open.withLock { $0.take() }
    let image = try decoder.image.reopened(file, timeouts: Self.timeouts)
    open.withLock { $0 = image }
  }

  /// Returns the open sequence.
  func image() throws(ImageError) -> IsolatedImage {
    guard let image = open.withLock({ $0 }) else { throw ImageError(.decodeError, "The AVIF sequence is not open.") }
    return image
  }
}
