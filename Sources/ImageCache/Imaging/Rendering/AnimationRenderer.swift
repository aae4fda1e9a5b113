/// Renders animated thumbnails of one file: each frame as if it were a still image.
struct AnimationRenderer {
  private let renderer: Renderer
  private let bytes: [UInt8]
  private let file: ImageFile
  private let animation: Animation
  private let parts: [Int: TrimmedPart]

  /// The thumbnails so far.
  struct Outcome {
    var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
    var warnings: [String] = []
    /// The sentences about frames that are left out though the file is whole.
    var omissions: [String] = []
    /// The damage that ends the animation; nil if it is whole.
    var fault: ImageError?
  }

  /// Creates a renderer for a file and its frames, as ``opened(_:_:_:)`` returns them. `parts` are those that are
  /// left without a border, by its tolerance.
  init(
    _ bytes: [UInt8], _ opened: (file: ImageFile, animation: Animation), _ renderer: Renderer,
    parts: [Int: TrimmedPart]
  ) {
    (self.bytes, self.renderer, self.parts) = (bytes, renderer, parts)
    (file, animation) = opened
  }

  /// Returns a file and its frames; nil unless it has several, and one of `specs` shows them. Holds no process of
  /// `thumbs-decode` after that: the first frame may need it.
  static func opened(
    _ bytes: [UInt8], _ specs: [ThumbnailSpec], _ renderer: Renderer
  ) throws(ImageError) -> (file: ImageFile, animation: Animation)? {
    guard specs.contains(where: { $0.frames == .all }) else { return nil }
    // A still image would be opened twice.
    if case .isolated = try FileRecognition(bytes.span), !bytes.span.has("ftypavis", at: 4) { return nil }
    let caches = renderer.caches
    let file = try ImageFile(bytes.span, limits: renderer.limits, decoders: caches.decoders)
    guard let decoder = file.decoder as? any AnimationDecoder,
      let animation = try decoder.animation(of: bytes.span.extracting(file.start...))
    else { return nil }
    return (file, animation)
  }

  /// Renders the thumbnails of specs that show all frames. Returns no thumbnail if the first frame is damaged.
  func render(_ specs: [ThumbnailSpec]) throws(ImageError) -> Outcome {
    var outcome = Outcome()
    // A file that must not be too long may need several passes.
    for spec in specs where spec.maxBytes != nil {
      let file = try QualitySearch.file(for: spec) { spec throws(ImageError) in
        let bytes = try thumbnails([spec], schedule(spec), &outcome).first?.bytes
        return EncodedFile(format: spec.animationFormat, bytes: bytes ?? [])
      }
      guard !file.bytes.isEmpty else { continue }
      outcome.thumbnails[spec] = Thumbnail(
        spec: spec, size: geometry(spec).canvas, format: file.format, bytes: file.bytes)
    }
    let free = Dictionary(grouping: specs.filter { $0.maxBytes == nil }, by: schedule)
    for (schedule, specs) in free {
      for thumbnail in try thumbnails(specs, schedule, &outcome) { outcome.thumbnails[thumbnail.spec] = thumbnail }
    }
    return outcome
  }

  /// Returns the frames that a thumbnail shows.
  private func schedule(_ spec: ThumbnailSpec) -> FrameSchedule {
    FrameSchedule(
      durations: animation.frames.map(\.duration), canvas: file.decoder.header.storedSize,
      thumbnail: geometry(spec).canvas, limits: renderer.animationLimits)
  }

  private func geometry(_ spec: ThumbnailSpec) -> FittedGeometry {
    FittedGeometry(
      source: file.decoder.header.source.size, part: spec.trim.flatMap { parts[$0] }, spec: spec,
      maxContent: renderer.maxOutputPixels)
  }

  /// Renders thumbnails that show the same frames.
  private func thumbnails(
    _ specs: [ThumbnailSpec], _ schedule: FrameSchedule, _ outcome: inout Outcome
  ) throws(ImageError) -> [Thumbnail] {
    let encoders = try specs.map { spec throws(ImageError) in
      let size = geometry(spec).canvas
      return try AnimationEncoder(spec, size: size, isLossless: isLossless(spec), loops: animation.loops)
    }
    let decoder = file.decoder
    let plan = RenderPlan(
      decoder, specs: specs, maxContent: renderer.maxOutputPixels, encoders: renderer.caches.encoders,
      process: renderer.process, parts: parts, frameEncoders: encoders)
    let cost = peakBytes(plan, schedule, encoders)
    try animation.frames.first?.decoder.prepare(bytes.span.extracting(file.start...))
    renderer.memory.enter(cost)
    defer { renderer.memory.leave(cost) }
    let end = try drawFrames(schedule, plan, encoders, &outcome)
    guard end > 0 else { return [] }
    return try encoders.map { encoder throws(ImageError) in try encoder.thumbnail(length: end) }
  }

  /// Passes the frames of a schedule to the encoders. Returns the time in milliseconds at which the last whole one
  /// ends.
  private func drawFrames(
    _ schedule: FrameSchedule, _ plan: RenderPlan, _ encoders: [AnimationEncoder], _ outcome: inout Outcome
  ) throws(ImageError) -> Int {
    var header = file.decoder.header
    header.layout = .rgba
    let canvas = try AnimationCanvas(size: header.storedSize)
    var (next, end) = (schedule.frames[...], 0)
    for (index, frame) in animation.frames.enumerated() {
      guard let due = next.first else { break }
      guard try draw(frame, on: canvas, &outcome) else { return end }
      end += frame.duration
      guard due.index == index else { continue }
      next.removeFirst()
      for encoder in encoders { encoder.show(at: due.start) }
      let scaler = ImageScaler(plan, header: header, caches: renderer.caches)
      try scaler.take(whole: canvas.bitmap)
      _ = try scaler.thumbnails()
    }
    outcome.fault = outcome.fault ?? animation.fault
    if let warning = schedule.warning, !outcome.omissions.contains(warning) { outcome.omissions.append(warning) }
    return schedule.length
  }

  /// Draws a frame. Returns false if it is damaged.
  private func draw(
    _ frame: AnimationFrame, on canvas: AnimationCanvas, _ outcome: inout Outcome
  ) throws(ImageError) -> Bool {
    var warnings: [String] = []
    // Thousands of frames may have the same oddity.
    defer { outcome.warnings += warnings.filter { !outcome.warnings.contains($0) } }
    do throws(ImageError) {
      try canvas.begin(frame)
      try frame.decoder.decode(
        bytes.span.extracting(file.start...), colors: renderer.caches.transforms, into: canvas, warnings: &warnings)
      return true
    } catch {
      // A failure of this machine is no reason to keep a shorter animation.
      guard error.code == .truncated || error.code == .decodeError, error.origin == .file else { throw error }
      outcome.fault = error
      return false
    }
  }

  /// Returns true if the thumbnail has no losses, because the source has none: as for still images, only of WebP.
  private func isLossless(_ spec: ThumbnailSpec) -> Bool {
    #if WebP
      spec.format == .auto && (file.decoder as? WebPDecoder)?.webp.isLossless == true
    #else
      false
    #endif
  }

  /// Estimates the peak number of bytes that rendering takes: the canvas, what a frame hides, a decoded frame, a
  /// thumbnail of each size, and what the encoders keep.
  private func peakBytes(_ plan: RenderPlan, _ schedule: FrameSchedule, _ encoders: [AnimationEncoder]) -> Int {
    let decoder = file.decoder
    let canvas = decoder.header.storedSize.area * 4
    let hidden = animation.frames.contains { $0.disposal == .restore } ? canvas : 0
    let decoded = animation.frames.map(\.decoder.peakBytes).max() ?? 0
    let kept = encoders.reduce(0) { $0 + $1.keptBytes(frames: schedule.frames.count) }
    return canvas + hidden + decoded + plan.peakBytes(decoder) + kept
  }
}
