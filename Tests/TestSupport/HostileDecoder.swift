public import Foundation

/// The program in `Tests/HostileDecoder`: a decoder that does what its image says.
public enum HostileDecoder {
  /// The path of the program. A sanitizer needs more memory and system calls than its sandbox allows, so the programs
  /// with a sanitizer test one without, which `THUMBS_HOSTILE_DECODER` names.
  public static let program =
    ProcessInfo.processInfo.environment["THUMBS_HOSTILE_DECODER"] ?? folder.appending(path: "hostile-decode").path

  /// The folder of the programs that are built with the tests.
  public static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

  /// Returns a sequence of three frames that makes the decoder attempt something at a step: one of those of an image,
  /// `time`, or `third-frame`.
  public static func sequence(_ step: String, _ attempt: String) -> [UInt8] {
    [0, 0, 0, 16] + Array("ftypavis".utf8) + [0, 0, 0, 0] + Array(" \(step) \(attempt) ".utf8)
  }

  /// Returns an image that makes the decoder attempt something at a step, `open` or `decode`. It is a good image if
  /// there is no such attempt.
  public static func image(_ step: String, _ attempt: String) -> [UInt8] {
    // The signature of a compressed SVG.
    [0x1F, 0x8B, 0x08] + Array(" \(step) \(attempt) ".utf8)
  }
}
