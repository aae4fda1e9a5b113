import Glibc

/// A program that decodes or renders images in its own process.
struct DecoderProgram: Hashable, Sendable {
  /// The path of the program.
  let path: String
  /// The name by which it is called: `thumbs-render` makes `thumbs` render for another process.
  let name: String

  /// Returns `thumbs-decode`; nil if it is not installed.
  static func decoder(_ settings: DecoderIsolation) -> DecoderProgram? {
    let path = settings.program ?? installed
    return path.flatMap { $0.isEmpty ? nil : DecoderProgram(path: $0, name: "thumbs-decode") }
  }

  /// Returns `thumbs`, which renders; nil if it is not installed.
  static func renderer(_ settings: DecoderIsolation) -> DecoderProgram? {
    (settings.renderer ?? installedRenderer).map { DecoderProgram(path: $0, name: "thumbs-render") }
  }

  /// The path of the installed `thumbs-decode`; nil if it is not installed. Looked for once.
  ///
  /// In the folder of the running program, as in a build folder; in `libexec` next to that folder, as installed; and
  /// where packages install it, for a program that is elsewhere.
  static let installed = first(
    running.map { ["\($0.folder)/thumbs-decode", "\($0.folder)/../libexec/thumbs/thumbs-decode"] },
    "/usr/libexec/thumbs/thumbs-decode", "/usr/local/libexec/thumbs/thumbs-decode")

  private static let installedRenderer = first(
    running.map { $0.name == "thumbs" ? ["/proc/self/exe"] : ["\($0.folder)/thumbs"] }, "/usr/bin/thumbs",
    "/usr/local/bin/thumbs")

  private static func first(_ paths: [String]?, _ others: String...) -> String? {
    ((paths ?? []) + others).first { access($0, X_OK) == 0 }
  }

  /// The running program.
  private static var running: (folder: String, name: String)? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    guard count > 0, count < path.count else { return nil }
    let text = String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.lastIndex(of: "/").map { (String(text[..<$0]), String(text[text.index(after: $0)...])) }
  }
}
