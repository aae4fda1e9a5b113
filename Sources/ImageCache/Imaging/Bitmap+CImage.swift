// The one file that knows CImage: statuses become errors, pointers stay in here.

import CImage

extension Bitmap {
  /// Decodes the first picture of a JPEG file, made `shrink` (1, 2, 4 or 8) times smaller on the way.
  /// `profile` turns CMYK into RGB; without one, inks are taken as ideal.
  static func decodingJPEG(
    _ bytes: [UInt8], header: ImageHeader, shrink: Int, profile: [UInt8]?, memoryLimit: Int,
    warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let size = PixelSize(
      width: (header.storedSize.width + shrink - 1) / shrink, height: (header.storedSize.height + shrink - 1) / shrink)
    let bitmap = Bitmap(size: size, layout: header.layout)
    var inks: ColorTransform?
    if header.isCMYK, let profile { inks = ColorTransform(profile, model: .CMYK, warnings: &warnings) }
    let options = CImageJPEGDecoding(
      shrink: Int32(shrink), start: header.start, maxScans: 100, maxMemory: memoryLimit, cmyk: inks?.handle)
    try call(&warnings) { cimage_jpeg_decode(bytes, bytes.count, options, bitmap.view, $0) }
    return bitmap
  }

  /// Decodes a PNG file, and fills in `profile` when the file has one.
  static func decodingPNG(
    _ bytes: [UInt8], header: ImageHeader, profile: inout [UInt8]?, warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let bitmap = Bitmap(size: header.storedSize, layout: header.layout)
    let capacity = header.hasCompressedProfile ? ICCSegments.maxBytes : 0
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    defer { buffer.deallocate() }
    var room = CImageProfileRoom(bytes: capacity > 0 ? buffer : nil, capacity: capacity, count: 0)
    try call(&warnings) { cimage_png_decode(bytes, bytes.count, bitmap.view, &room, $0) }
    profile = room.count > 0 ? Array(UnsafeBufferPointer(start: buffer, count: room.count)) : nil
    return bitmap
  }

  /// This bitmap scaled to `size`; of it, only `readable` is looked at. Alpha must be premultiplied where perceptual
  /// numbers are mixed, and straight where light is.
  func scaled(
    across: Kernel, down: Kernel, readable: PixelSize, to size: PixelSize, in light: ThumbnailSpec.Light
  ) throws(ImageError) -> Bitmap {
    let target = Bitmap(size: size, layout: layout)
    var source = view
    source.width = Int32(readable.width)
    source.height = Int32(readable.height)
    var warnings: [String] = []
    let resize = light == .linear ? cimage_resize_linear : cimage_resize
    try call(&warnings) { _ in resize(source, across.handle, down.handle, target.view) }
    return target
  }

  /// This picture as `orientation` wants it seen.
  consuming func oriented(_ orientation: Orientation) -> Bitmap {
    if orientation == .upright { return self }
    let target = Bitmap(size: orientation.applied(to: size), layout: layout)
    cimage_orient(view, Int32(orientation.rawValue), target.view)
    return target
  }

  /// Multiplies colour with alpha in place, so that mixing pixels weighs them by what is seen of them.
  func premultiply() { _ = cimage_premultiply(view) }

  /// Undoes ``premultiply()``.
  func unpremultiply() { cimage_unpremultiply(view) }

  /// Fills every pixel with one sample a channel.
  func fill(_ sample: [UInt8]) { cimage_fill(view, sample) }

  /// Draws `other`, which lies wholly inside, with its upper left corner at a pixel.
  func draw(_ other: borrowing Bitmap, left: Int, top: Int) { cimage_draw(other.view, view, Int32(left), Int32(top)) }

  /// The file of a bitmap without alpha. `quality` is 1 to 100.
  func encodedJPEG(quality: Int, scans: ThumbnailSpec.Scans) throws(ImageError) -> [UInt8] {
    let quality = min(max(quality, 1), 100)
    let options = CImageJPEGEncoding(
      quality: Int32(quality), chromaStep: quality < 90 ? 2 : 1, scans: scans == .progressive ? .progressive : .baseline
    )
    return try encoded { cimage_jpeg_encode(view, options, $0, $1, $2, $3) }
  }

  /// The file of a bitmap of any layout.
  func encodedPNG() throws(ImageError) -> [UInt8] {
    try encoded { cimage_png_encode(view, $0, $1, $2, $3) }
  }

  /// Runs an encoder into room for the worst case, and keeps an array of just the file's size.
  private func encoded(
    _ encode: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CImageMessages>)
      -> CImageStatus
  ) throws(ImageError) -> [UInt8] {
    let capacity = cimage_encoded_bound(view)
    let room = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    defer { room.deallocate() }
    var count = 0
    var warnings: [String] = []
    try call(&warnings) { encode(room, capacity, &count, $0) }
    return Array(UnsafeBufferPointer(start: room, count: count))
  }

  fileprivate var view: CImageBitmap {
    CImageBitmap(
      pixels: pixels, width: Int32(size.width), height: Int32(size.height), channels: Int32(layout.channels),
      stride: size.width * layout.channels)
  }
}

/// A conversion from an ICC profile's colours to sRGB.
struct ColorTransform: ~Copyable {
  fileprivate let handle: OpaquePointer

  /// A conversion for inks; nil, with a warning, when the profile is broken or means something else.
  fileprivate init?(_ profile: [UInt8], model: CImageColorModel, warnings: inout [String]) {
    var messages = CImageMessages()
    let handle = cimage_transform_create(profile, profile.count, model, &messages)
    messages.appendWarnings(to: &warnings)
    guard let handle else { return nil }
    self.handle = handle
  }

  /// A conversion for samples of `layout`; nil, with a warning, when the profile is broken or means something else.
  init?(_ profile: [UInt8], layout: PixelLayout, warnings: inout [String]) {
    let model: CImageColorModel =
      switch layout {
      case .gray: .gray
      case .grayAlpha: .grayAlpha
      case .rgb: .RGB
      case .rgba: .RGBA
      }
    self.init(profile, model: model, warnings: &warnings)
  }

  deinit { cimage_transform_destroy(handle) }

  /// Converts every pixel in place.
  func apply(to bitmap: borrowing Bitmap) { cimage_transform_apply(handle, bitmap.view) }
}

/// Runs one call of CImage: passes on its warnings, and throws what it failed with.
private func call(
  _ warnings: inout [String], _ body: (UnsafeMutablePointer<CImageMessages>) -> CImageStatus
) throws(ImageError) {
  var messages = CImageMessages()
  let status = body(&messages)
  messages.appendWarnings(to: &warnings)
  if let code = status.errorCode { throw ImageError(code, messages.sentence(for: code)) }
}

extension CImageStatus {
  /// The cause as callers know it; nil for success.
  fileprivate var errorCode: ImageError.Code? {
    switch self {
    case .OK: nil
    case .truncated: .truncated
    case .corrupt: .decodeError
    case .unsupported: .unsupportedFormat
    case .limit, .outOfMemory: .decodeLimit
    }
  }
}

extension CImageMessages {
  fileprivate func appendWarnings(to list: inout [String]) {
    for line in Self.text(warnings).split(separator: "\n") where !list.contains(String(line)) {
      list.append(String(line))
    }
  }

  /// The library's own words behind a sentence of ours.
  fileprivate func sentence(for code: ImageError.Code) -> String {
    let reason = Self.text(error)
    let sentence =
      switch code {
      case .truncated: "The picture's data is cut off"
      case .unsupportedFormat: "This variant of the format is not supported"
      case .decodeLimit: "The picture asks for too much work or memory"
      default: "The picture is damaged"
      }
    return reason.isEmpty ? "\(sentence)." : "\(sentence): \(reason)."
  }

  /// A C array of characters, up to its NUL.
  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
