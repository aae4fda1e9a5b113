import CImage
import Glibc

/// A call into C: its status becomes an error, its words become warnings and sentences.
enum CImageCall {
  /// Runs one call; passes on its warnings, and throws what it failed with.
  static func run(
    _ warnings: inout [String], _ body: (UnsafeMutablePointer<CImageMessages>) -> CImageStatus
  ) throws(ImageError) {
    var messages = CImageMessages()
    let status = body(&messages)
    messages.appendWarnings(to: &warnings)
    if let code = status.errorCode { throw ImageError(code, messages.sentence(for: code)) }
  }

  /// Runs one call that has nothing to warn of.
  static func run(_ body: (UnsafeMutablePointer<CImageMessages>) -> CImageStatus) throws(ImageError) {
    var warnings: [String] = []
    try run(&warnings, body)
  }

  /// Runs an encoder into room for the worst case, and keeps an array of just the file's size.
  static func encode(
    capacity: Int,
    _ body: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CImageMessages>)
      -> CImageStatus
  ) throws(ImageError) -> [UInt8] {
    let room = try allocate(capacity)
    defer { free(room) }
    var count = 0
    try run { body(room, &count, $0) }
    // An array that finds no memory ends the process: first see whether there is as much.
    free(try allocate(count))
    return Array(UnsafeBufferPointer(start: room, count: count))
  }

  /// Memory of `count` bytes with undefined content, for ``free(_:)``. Throws `outOfMemory`, where Swift's own
  /// allocation would end the process.
  static func allocate(_ count: Int) throws(ImageError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = malloc(max(1, count)) else {
      throw ImageError(.outOfMemory, "There is no memory left for the image.")
    }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  /// Gives back what ``allocate(_:)`` returned.
  static func free(_ memory: UnsafeMutablePointer<UInt8>) { Glibc.free(memory) }
}

extension Plane {
  /// The same, as C sees it.
  var view: CImageBitmap {
    CImageBitmap(
      pixels: samples, width: Int32(size.width), height: Int32(size.height), channels: Int32(channels), stride: stride)
  }
}

extension CImageStatus {
  /// The cause as callers know it; nil for success.
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
  /// Adds what is not in the list yet.
  func appendWarnings(to list: inout [String]) {
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
      case .outOfMemory: "There is no memory left for the picture"
      default: "The picture is damaged"
      }
    return reason.isEmpty ? "\(sentence)." : "\(sentence): \(reason)."
  }

  /// A C array of characters, up to its NUL.
  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
