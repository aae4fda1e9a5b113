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
  func appendWarnings(to list: inout [String]) {
    for line in String.text(inArray: warnings).split(separator: "\n") where !list.contains(String(line)) {
      list.append(String(line))
    }
  }
}
