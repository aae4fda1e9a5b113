internal import Foundation
internal import Synchronization

/// Renders the thumbnails of an image: one decode for any number of sizes.
///
/// ```swift
/// let renderer = Renderer()
/// let specs = [ThumbnailSpec(width: 256), ThumbnailSpec(width: 64, fit: .cover)]
/// let rendering = try renderer.render(bytes, specs: specs)
/// for thumbnail in rendering.thumbnails {
///   let name = "\(thumbnail.spec.label).\(thumbnail.format.fileExtension)"
///   try Data(thumbnail.bytes).write(to: directory.appending(path: name))
/// }
/// ```
public struct Renderer: Sendable {
  /// The version of the rendered output. Rises whenever the same bytes and spec would give a different file. Part of
  /// every cache key.
  public static let version = 5

  /// The maximum number of pixels a source may declare. Default 100 million.
  public var maxPixels: Int

  /// The minimum number of pixels a source may declare. Default 0.
  public var minPixels = 0

  /// The maximum ratio of the longer side of a source to the shorter one, at least 1. Default nil: any.
  public var maxAspectRatio: Double?

  /// The page of a PDF document or of a TIFF file, from 1. A document with fewer pages fails with `no_page`; files of
  /// other formats have one page, which is decoded whatever this is. Default 1.
  public var page = 1

  /// The maximum number of pixels of a thumbnail that can be larger than its source: padded or enlarged. Also of the
  /// scaled image from which a crop is chosen by ``Gravity/smart``. Default 67,108,864, which is 8192 by 8192.
  public var maxOutputPixels = 1 << 26

  /// The least flaw of a file that makes ``render(_:specs:)`` fail. Default ``FailLevel/error``.
  public var failLevel = FailLevel.error

  /// Changes the pixels of each thumbnail before it is encoded. Default nil: none.
  public var process: PixelProcess?

  /// The limits on animated thumbnails.
  var animationLimits = AnimationLimits()

  /// Shared by all copies of this renderer.
  let memory: MemoryGate
  /// Shared by all copies of this renderer.
  let caches: RenderingCaches

  /// The limits on the header of a source.
  var limits: DecodingLimits { DecodingLimits(maxPixels: maxPixels) }

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - maxPixels: The maximum number of pixels a source may declare. Default 100 million.
  ///   - maxMemory: The approximate number of bytes of pixels and coefficients that all threads together may hold at
  ///     once. An image that needs more is rendered while no other is. Default 64 MiB, for two threads.
  ///   - inks: The profile of CMYK images that have none. Default: none; inks are assumed to be ideal.
  ///   - isolation: The settings for formats that another process decodes.
  public init(
    maxPixels: Int = 100_000_000, maxMemory: Int = 64 << 20, inks: InkProfile? = nil,
    isolation: DecoderIsolation = DecoderIsolation()
  ) {
    self.maxPixels = maxPixels
    caches = RenderingCaches(inks: inks, isolation: isolation)
    memory = MemoryGate(limit: maxMemory)
  }

  /// Throws `badSpec` if ``render(_:specs:)`` would refuse a spec for every image: if a side of the box in pixels is
  /// not 1 to ``ThumbnailSpec/largestSide``, the scale is not 1 to 8, the quality is not 1 to 100, or a padded or
  /// enlarged thumbnail would have more than ``maxOutputPixels``. It also throws `badSpec` for AVIF if
  /// `thumbs-decode` is not installed.
  public func check(_ specs: [ThumbnailSpec]) throws(ImageError) {
    for spec in specs {
      try spec.check(maxOutputPixels: maxOutputPixels)
      if spec.format == .avif { try AVIFEncoder.check(caches.encoders) }
    }
  }

  /// The thumbnails of one image.
  public struct Rendering: Sendable {
    /// The source as its header describes it.
    public var source: SourceImage
    /// One thumbnail per spec, in the order of the specs.
    public var thumbnails: [Thumbnail]
    /// Flaws of the file, each a short sentence. They are harmless unless ``isDamaged``.
    public var warnings: [String]
    /// True if image data is missing or corrupt, which ``Renderer/failLevel`` tolerates. Do not cache the thumbnails:
    /// another transfer may give a whole file.
    public var isDamaged = false
  }
}

// MARK: Render

extension Renderer {
  /// Decodes an image once and renders its thumbnails.
  ///
  /// Call it on a thread that may block: it waits while other threads hold the memory it needs, first come, first
  /// served. Deterministic: the same bytes and specs give the same files.
  ///
  /// - Parameters:
  ///   - bytes: A whole file in one of the formats ``SourceFormat/all``. An array is not copied.
  ///   - specs: The thumbnails to render.
  /// - Returns: The source, one thumbnail per spec in the same order, and warnings about the file.
  /// - Throws: An error with any code of ``ImageError/Code``; `badSpec` if ``check(_:)`` refuses a spec, `truncated` if
  ///   any image data is missing, however little, unless ``failLevel`` tolerates that.
  public func render(_ bytes: some Sequence<UInt8>, specs: [ThumbnailSpec]) throws(ImageError) -> Rendering {
    try check(specs)
    let file = Array(bytes)
    var rendering: Rendering
    if let moving = try renderFrames(file, specs) {
      rendering = moving
    } else {
      rendering = try render(file: file, specs)
    }
    for (index, spec) in specs.enumerated() where spec.format == .original {
      rendering.thumbnails[index] = Thumbnail(
        spec: spec, size: rendering.source.size, format: .original, bytes: file)
    }
    return rendering
  }

  private func render(file bytes: [UInt8], _ specs: [ThumbnailSpec]) throws(ImageError) -> Rendering {
    let parts = try partsWithoutBorder(bytes, specs)
    var file = try ImageFile(bytes.span, page: page, limits: limits, decoders: caches.decoders)
    let source = file.decoder.header.source
    try source.size.check(minPixels: minPixels, maxAspectRatio: maxAspectRatio)
    file.decoder.fill(specs, within: parts, maxPixels: maxOutputPixels)
    var plan = RenderPlan(
      file.decoder, specs: specs, maxContent: maxOutputPixels, encoders: caches.encoders, process: process,
      parts: parts)
    file.decoder.adapt(to: plan.demand)
    let cost = file.decoder.peakBytes + plan.peakBytes(file.decoder)
    if let renderers = caches.renderers, !(file.decoder is IsolatedDecoder) {
      plan.frameCount = try frameCount(bytes, specs)
      return try IsolatedRenderer(renderers).render(
        bytes, RenderOrder(specs, self), source: source, plan, memory: memory, cost: cost)
    }
    memory.enter(cost)
    defer { memory.leave(cost) }
    var warnings = file.warnings
    let header = file.decoder.header
    let scaler = ImageScaler(plan, header: header, caches: caches)
    let isWhole = try decode(file, bytes.span, into: scaler, warnings: &warnings)
    if failLevel == .warning, let warning = warnings.first { throw ImageError(.decodeError, warning) }
    let thumbnails = try scaler.thumbnails()
    return Rendering(
      source: source, thumbnails: specs.indices.compactMap { thumbnails[$0] }, warnings: warnings,
      isDamaged: !isWhole)
  }

  /// Renders the thumbnails of an animation; nil unless a spec shows more than one frame, or if another process renders
  /// the file, which does the same.
  private func renderFrames(_ bytes: [UInt8], _ specs: [ThumbnailSpec]) throws(ImageError) -> Rendering? {
    guard let opened = try AnimationRenderer.opened(bytes, specs, self),
      caches.renderers == nil || opened.file.decoder is IsolatedDecoder
    else { return nil }
    let animation = AnimationRenderer(bytes, opened, self, parts: try partsWithoutBorder(bytes, specs))
    // Also finds what is wrong with the file. Damage can be tolerated only if there is a thumbnail with rows.
    let still = specs.filter { $0.frames == .first }
    var rendering = try render(file: bytes, still.isEmpty ? [ThumbnailSpec(width: 1)] : still)
    let outcome = try animation.render(specs.filter { $0.frames == .all })
    // Without a whole frame, the first one is rendered as far as its data goes, if that is tolerated.
    if outcome.thumbnails.isEmpty { return nil }
    var stills = rendering.thumbnails.prefix(still.count)
    rendering.thumbnails = specs.compactMap { outcome.thumbnails[$0] ?? stills.popFirst() }
    try add(outcome, to: &rendering)
    return rendering
  }

  /// Adds the warnings about an animation to those about its first frame, and judges its damage.
  private func add(_ outcome: AnimationRenderer.Outcome, to rendering: inout Rendering) throws(ImageError) {
    rendering.warnings += outcome.warnings.filter { !rendering.warnings.contains($0) }
    if let fault = outcome.fault {
      // Without the other frames, a file whose transfer ended early would be taken for a whole one.
      guard fault.code != .truncated || failLevel.tolerates(.truncated) else { throw fault }
      rendering.isDamaged = rendering.isDamaged || fault.code == .truncated
      let warning = "the animation ends before a frame that is damaged: \(fault.message)"
      if !rendering.isDamaged { rendering.warnings.append(warning) }
    }
    if failLevel == .warning, let warning = rendering.warnings.first { throw ImageError(.decodeError, warning) }
    rendering.warnings += outcome.omissions
  }

  /// Returns the most frames of a thumbnail; 1 unless a spec shows all frames of an animation.
  private func frameCount(_ bytes: [UInt8], _ specs: [ThumbnailSpec]) throws(ImageError) -> Int {
    let animation = try AnimationRenderer.opened(bytes, specs, self)?.animation
    return min(animation?.frames.count ?? 1, animationLimits.frames)
  }

  /// Decodes a file to find the parts that are left without a border, by its tolerance; none if no spec has one, or if
  /// another process renders the file and finds them.
  ///
  /// Called before the file is opened for its thumbnails: a thread that holds one process of `thumbs-decode` must not
  /// wait for another.
  private func partsWithoutBorder(
    _ bytes: [UInt8], _ specs: [ThumbnailSpec]
  ) throws(ImageError) -> [Int: TrimmedPart] {
    guard specs.contains(where: { $0.trim != nil }) else { return [:] }
    if caches.renderers != nil, case .decodable = try FileRecognition(bytes.span) { return [:] }
    var file = try ImageFile(bytes.span, page: page, limits: limits, decoders: caches.decoders)
    file.decoder.fill(specs, within: [:], maxPixels: maxOutputPixels)
    let cost = file.decoder.peakBytes
    memory.enter(cost)
    defer { memory.leave(cost) }
    let finder = BorderFinder(file.decoder.header, specs: specs)
    var warnings: [String] = []
    do throws(ImageError) {
      try file.decode(bytes.span, colors: caches.transforms, into: finder, warnings: &warnings)
    } catch {
      // The second pass says what is wrong with the file.
      guard failLevel.tolerates(error.code) else { throw error }
    }
    return finder.parts
  }

  /// Decodes a file. Returns false if it is damaged, which is tolerated.
  private func decode(
    _ file: ImageFile, _ bytes: Span<UInt8>, into scaler: ImageScaler, warnings: inout [String]
  ) throws(ImageError) -> Bool {
    do throws(ImageError) {
      try file.decode(bytes, colors: caches.transforms, into: scaler, warnings: &warnings)
      return true
    } catch {
      guard failLevel.tolerates(error.code), try scaler.fillMissingRows() else { throw error }
      warnings.append(error.message)
      return false
    }
  }
}

// MARK: Asynchronous

extension Renderer {
  /// Decodes an image once and renders its thumbnails, without blocking a thread of Swift concurrency. All renderers of
  /// the process together render as many images at a time as it has processors.
  ///
  /// ```swift
  /// let data = try Data(contentsOf: photo)
  /// let thumbnails = try await renderer.rendering(of: data, specs: [ThumbnailSpec(width: 256)]).thumbnails
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: A whole file, such as `[UInt8]` or `Data`.
  ///   - specs: The thumbnails to render.
  /// - Throws: An ``ImageError``, as the blocking method does; `CancellationError` if the task is canceled before its
  ///   turn.
  public func rendering(
    of bytes: some Sequence<UInt8> & Sendable, specs: [ThumbnailSpec]
  ) async throws -> Rendering {
    let call = RenderCall()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        RenderCall.queue.addOperation {
          if call.isCancelled.load(ordering: .relaxed) { return continuation.resume(throwing: CancellationError()) }
          continuation.resume(with: Result { () throws(ImageError) in try render(bytes, specs: specs) })
        }
      }
    } onCancel: {
      call.isCancelled.store(true, ordering: .relaxed)
    }
  }
}

/// A rendering that waits for a thread that may block.
private final class RenderCall: Sendable {
  static let queue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
    return queue
  }()

  let isCancelled = Atomic(false)
}

// MARK: Judge

extension Renderer {
  /// Examines the first bytes of a file as they arrive, so that a download which cannot succeed can stop early.
  ///
  /// Cheap enough to call whenever more bytes arrive: it decodes nothing and allocates no memory for pixels.
  ///
  /// - Parameter prefix: All bytes of the file received so far.
  /// - Returns: The source as its header describes it, or nil if more bytes are needed. If the file is complete,
  ///   ``render(_:specs:)`` reports the error. PNG and WebP files may store their orientation after the image data;
  ///   width and height may then be swapped in the result of ``render(_:specs:)``.
  /// - Throws: `notAnImage`, `unsupportedFormat`, `tooManyPixels`, `tooFewPixels`, `tooLong`, `decodeError` or
  ///   `decodeLimit`, as soon as ``render(_:specs:)`` is certain to fail.
  public func judge(prefix: Span<UInt8>) throws(ImageError) -> SourceImage? {
    if case .isolated(let format) = try FileRecognition(prefix) { try caches.decoders[format].check(for: format) }
    let source = try ImageFile(prefix: prefix, limits: limits)?.decoder.header.source
    try source?.size.check(minPixels: minPixels, maxAspectRatio: maxAspectRatio)
    return source
  }
}

// MARK: Edition

extension Renderer {
  /// A number that differs between builds that may judge the same file differently: it depends on ``version`` and on
  /// the formats that this build decodes. A file that failed with another edition may succeed with this one.
  static let edition = version << 16 | formatsHash(formats.map(\.rawValue))

  /// The formats that this build decodes if it has the program for some of them.
  private static let formats = SourceFormat.inProcess + IsolatedFormat.all.map(\.format)

  /// Returns a hash of 16 bits of the names of formats, the same in every process: FNV-1a, folded.
  static func formatsHash(_ names: [String]) -> Int {
    let hash = names.sorted().joined(separator: ",").utf8.reduce(0x811C_9DC5 as UInt32) { hash, byte in
      (hash ^ UInt32(byte)) &* 0x0100_0193
    }
    return Int(hash >> 16 ^ hash & 0xFFFF)
  }
}

/// Intermediate results and processes that the rendering of one image keeps for the next.
struct RenderingCaches: Sendable {
  let kernels = KernelCache()
  let transforms: ColorTransformCache
  /// The places that decoders and renderers share.
  let places: DecoderPlaces
  let decoders: DecoderPools
  /// The processes that encode AVIF. They decode no image, so none can have taken them over; their memory is a part of
  /// the cost of an image.
  let encoders: DecoderPool
  /// The processes that render all formats but those of the decoders; nil if this process renders them.
  let renderers: DecoderPool?

  init(inks: InkProfile? = nil, isolation: DecoderIsolation = DecoderIsolation()) {
    transforms = ColorTransformCache(inks: inks)
    places = DecoderPlaces(limit: isolation.maxProcesses)
    let documents = DecoderProgram.decoder(.documents, isolation)
    decoders = DecoderPools(
      images: DecoderPool(.decoder(isolation), isolation, places: places),
      documents: DecoderPool(documents, isolation, places: places))
    encoders = DecoderPool(.decoder(isolation), isolation)
    renderers = isolation.scope == .all ? DecoderPool(.renderer(isolation), isolation, places: places) : nil
  }
}

/// The least flaw of a file that makes rendering fail.
///
/// A file whose header is damaged always fails, and so does one that exceeds a limit.
public enum FailLevel: String, CaseIterable, Hashable, Sendable {
  /// Fails only if the image data ends or is corrupt before the first row. Missing pixels are gray, or transparent if
  /// the image has alpha.
  case none
  /// Fails if image data is missing at the end.
  case truncated
  /// Also fails if image data is corrupt.
  case error
  /// Also fails if there is any warning.
  case warning

  /// Returns true if an image is rendered in spite of `error`, as far as its data goes.
  public func tolerates(_ error: ImageError.Code) -> Bool {
    switch error {
    case .truncated: self == .none
    case .decodeError: self == .none || self == .truncated
    default: false
    }
  }
}
