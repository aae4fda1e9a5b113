import CDecodeChannel
import Glibc

/// The decoders of formats that are not trusted, as they are on this machine.
public struct DecoderCondition: Hashable, Sendable {
  /// The path of `thumbs-decode`; nil if it is not installed.
  public var program: String?
  /// The end of a sentence that says why the program does not run; nil if it does.
  public var failure: String?
  /// The formats that it decodes.
  public var formats: [SourceFormat] = []
  /// The formats in which it encodes thumbnails.
  public var outputs: [OutputFormat] = []
  /// The formats that it lacks, because their libraries were missing when it was built.
  public var missing: [SourceFormat] = []
  /// The names and versions of its libraries, such as `libavif 0.11.1`.
  public var libraries: [String] = []
  /// The protections that hold on this machine, such as `seccomp`.
  public var protections: [String] = []
  /// True if these are enough for images from anywhere.
  public var isProtected = false
  /// The packages of Debian and Ubuntu that were missing when the program was built, such as `libavif-dev`: those of
  /// the ``missing`` formats, and the one of the seccomp filter.
  public var missingPackages: [String] = []

  /// Creates the condition of a machine without the program.
  public init() {}

  /// Starts the program once and ends it, which takes about 40 ms.
  public init(measuring isolation: DecoderIsolation = DecoderIsolation()) {
    guard let decoder = DecoderProgram.decoder(isolation) else { return }
    program = decoder.path
    do throws(DecoderFailure) {
      let process = try DecoderProcess(decoder, isolation)
      defer { process.end() }
      let hello = process.hello
      (formats, libraries, protections) = (hello.sourceFormats, hello.libraryNames, hello.protectionNames)
      outputs = hello.encodes(.avif) ? [.avif] : []
      let lacking = IsolatedFormat.all.filter { !hello.has($0) }
      missing = lacking.map(\.format)
      missingPackages = lacking.compactMap(\.package) + (hello.hasFilter == 1 ? [] : ["libseccomp-dev"])
      isProtected = hello.isProtected == 1
    } catch {
      failure = error.reason
    }
  }

  /// Returns the end of a sentence that says why the program would encode no AVIF with these settings; nil if it would.
  public func encodingFault(_ isolation: DecoderIsolation = DecoderIsolation()) -> String? {
    if program == nil { return "it is not installed; install the package thumbs-decoders" }
    if let failure { return failure }
    if !isProtected && !isolation.allowsUnprotected { return unprotected.reason }
    return outputs.contains(.avif) ? nil : Self.encoderIsMissing
  }

  private var unprotected: DecoderFailure {
    .unprotected(isBuiltWithFilter: !missingPackages.contains("libseccomp-dev"))
  }

  static let encoderIsMissing = "libavif with libaom was missing when it was built"
}

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

extension DecodeHello {
  /// The formats that the program decodes.
  var sourceFormats: [SourceFormat] { IsolatedFormat.all.filter(has).map(\.format) }

  /// The names and versions of the libraries.
  var libraryNames: [String] {
    String.text(inArray: libraries).split(separator: "\n").map { DecodeText.clean(String($0)) }
  }

  /// The names of the protections that hold.
  var protectionNames: [String] {
    Self.names.compactMap { protection, name in protections & protection.rawValue == 0 ? nil : name }
  }

  /// Returns true if the program was built with the library for `format`.
  func has(_ format: IsolatedFormat) -> Bool { formats & 1 << format.id.rawValue != 0 }

  /// Returns true if the program can encode thumbnails in `format`.
  func encodes(_ format: IsolatedFormat) -> Bool { encoders & 1 << format.id.rawValue != 0 }

  private static let names = [
    (DecodeProtectionNoNewPrivileges, "no new privileges"), (DecodeProtectionLandlock, "Landlock"),
    (DecodeProtectionSystemCalls, "seccomp"), (DecodeProtectionNamespaces, "namespaces"),
    (DecodeProtectionLimits, "resource limits"),
  ]
}
