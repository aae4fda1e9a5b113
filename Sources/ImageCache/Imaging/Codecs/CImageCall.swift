import CImage
import Glibc

/// Calls into C, with statuses converted to errors and messages to warnings and sentences.
enum CImageCall {
  /// Runs one call. Appends its warnings to `warnings` and throws if it fails.
  static func run(
    _ warnings: inout [String], _ body: (UnsafeMutablePointer<CImageMessages>) -> CImageStatus
  ) throws(ImageError) {
    var messages = CImageMessages()
    let status = body(&messages)
    messages.appendWarnings(to: &warnings)
    if let code = status.errorCode { throw ImageError(code, reason: String.text(inArray: messages.error)) }
  }

  /// Runs one call that produces no warnings.
  static func run(_ body: (UnsafeMutablePointer<CImageMessages>) -> CImageStatus) throws(ImageError) {
    var warnings: [String] = []
    try run(&warnings, body)
  }

  /// Runs a decoder on the bytes of a file, which must not be empty. Appends its warnings to `warnings`.
  static func decode(
    _ file: Span<UInt8>, _ warnings: inout [String],
    _ body: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<CImageMessages>) -> CImageStatus
  ) throws(ImageError) {
    try file.withUnsafeBufferPointer { bytes throws(ImageError) in
      guard let start = bytes.baseAddress else { throw ImageError(.truncated, "The file is empty.") }
      try run(&warnings) { body(start, bytes.count, $0) }
    }
  }

  /// Runs an encoder with a buffer for the worst case and returns an array of the file's actual size.
  static func encode(
    capacity: Int,
    _ body: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CImageMessages>)
      -> CImageStatus
  ) throws(ImageError) -> [UInt8] {
    let room = try allocate(capacity)
    defer { free(room) }
    var count = 0
    try run { body(room, &count, $0) }
    // Array allocation traps when memory runs out, so first check that as much can be allocated.
    free(try allocate(count))
    return Array(UnsafeBufferPointer(start: room, count: count))
  }

  /// Allocates `count` bytes with undefined content; the caller passes them to ``free(_:)``. Throws `outOfMemory`,
  /// where Swift's own allocation would trap.
  static func allocate(_ count: Int) throws(ImageError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = malloc(max(1, count)) else {
      throw ImageError(.outOfMemory, "Out of memory for the image.")
    }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  /// Frees memory from ``allocate(_:)``.
  static func free(_ memory: UnsafeMutablePointer<UInt8>) { Glibc.free(memory) }
}

extension Plane {
  /// The plane as a C structure.
  var view: CImageBitmap {
    CImageBitmap(
      pixels: samples, width: Int32(size.width), height: Int32(size.height), channels: Int32(channels), stride: stride)
  }
}

extension CImageStatus {
  /// The corresponding error code; nil for success.
  fileprivate var errorCode: ImageError.Code? {
    switch self {
    case .OK: nil
    case .truncated: .truncated
    case .corrupt: .decodeError
    case .unsupported: .unsupportedFormat
    case .limit: .decodeLimit
    case .outOfMemory: .outOfMemory
    }
  }
}

extension CImageMessages {
  /// Appends the warnings that are not in the list yet.
  fileprivate func appendWarnings(to list: inout [String]) {
    for line in String.text(inArray: warnings).split(separator: "\n") where !list.contains(String(line)) {
      list.append(String(line))
    }
  }
}

/// Passes the rows of a C decoder on to a ``RowSink``.
///
/// The C structures do not keep this object alive, and must not be used after it is gone.
final class CImageSink {
  private let sink: any RowSink
  /// The colors of an image in planes.
  private let colors: ColorTransform?

  init(_ sink: any RowSink, colors: ColorTransform? = nil) { (self.sink, self.colors) = (sink, colors) }

  /// The destination of pixels. The caller has called ``RowSink/begin(_:)``.
  var pixels: CImageRowSink {
    CImageRowSink(
      context: Unmanaged.passUnretained(self).toOpaque(),
      needed: { context, plane in CImageSink.at(context).sink.needed(ofPlane: Int(plane)) },
      skip: { context, counts in CImageSink.at(context).sink.skip([Int(counts[0])]) },
      take: { context, rows in
        CImageSink.call(context) { target throws(ImageError) in try target.sink.take([rows.pointee]) }
      })
  }

  /// The destination of luma and chroma planes.
  var planes: CImagePlaneSink {
    var rows = pixels
    rows.skip = { context, counts in CImageSink.at(context).sink.skip((0..<3).map { Int(counts[$0]) }) }
    rows.take = { context, rows in
      CImageSink.call(context) { target throws(ImageError) in try target.sink.take([rows[0], rows[1], rows[2]]) }
    }
    return CImagePlaneSink(
      begin: { context, planes in
        CImageSink.call(context) { target throws(ImageError) in
          try target.begin([planes[0], planes[1], planes[2]])
        }
      }, rows: rows)
  }

  private func begin(_ planes: [CImagePlane]) throws(ImageError) {
    try sink.begin(DecodedShape(layout: .planes, planes: planes.map(PlaneShape.init), colors: colors))
  }

  /// Returns the object that `context` points to.
  private static func at(_ context: UnsafeMutableRawPointer?) -> CImageSink {
    guard let context else { preconditionFailure("A decoder lost the context of its sink.") }
    return Unmanaged<CImageSink>.fromOpaque(context).takeUnretainedValue()
  }

  /// Calls `body` with the object that `context` points to, and converts its error to a status.
  private static func call(
    _ context: UnsafeMutableRawPointer?, _ body: (CImageSink) throws(ImageError) -> Void
  ) -> CImageStatus {
    do throws(ImageError) {
      try body(at(context))
      return .OK
    } catch {
      // Only allocations can fail.
      return .outOfMemory
    }
  }
}

extension PlaneShape {
  fileprivate init(_ plane: CImagePlane) {
    let (width, height) = (Int(plane.width), Int(plane.height))
    self.init(
      size: PixelSize(width: width, height: height),
      area: PixelBox(
        left: 0, top: 0, right: Double(width) * plane.stepAcross, bottom: Double(height) * plane.stepDown))
  }
}

extension String {
  /// Returns the text in an array of C characters, which Swift imports as a tuple, up to its NUL or its end.
  static func text(inArray characters: some BitwiseCopyable) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
