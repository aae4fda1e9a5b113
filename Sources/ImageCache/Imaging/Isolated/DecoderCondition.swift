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
    self.init(measuring: .images, isolation)
  }

  /// The condition of `thumbs-decode-pdf`. Starts it once and ends it.
  public static func documents(_ isolation: DecoderIsolation = DecoderIsolation()) -> DecoderCondition {
    DecoderCondition(measuring: .documents, isolation)
  }

  private init(measuring kind: DecoderKind, _ isolation: DecoderIsolation) {
    guard let decoder = DecoderProgram.decoder(kind, isolation) else { return }
    program = decoder.path
    do throws(DecoderFailure) {
      let process = try DecoderProcess(decoder, isolation)
      defer { process.end() }
      let hello = process.hello
      (formats, libraries, protections) = (hello.sourceFormats, hello.libraryNames, hello.protectionNames)
      outputs = hello.encodes(.avif) ? [.avif] : []
      let lacking = IsolatedFormat.all.filter { $0.program == kind && !hello.has($0) }
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
  static func decoder(_ settings: DecoderIsolation) -> DecoderProgram? { decoder(.images, settings) }

  /// Returns the program for some formats; nil if it is not installed.
  static func decoder(_ kind: DecoderKind, _ settings: DecoderIsolation) -> DecoderProgram? {
    let path =
      switch kind {
      case .images: settings.program ?? installed
      case .documents: settings.documentProgram ?? installedForDocuments
      }
    return path.flatMap { $0.isEmpty ? nil : DecoderProgram(path: $0, name: kind.name) }
  }

  /// Returns `thumbs`, which renders; nil if it is not installed.
  static func renderer(_ settings: DecoderIsolation) -> DecoderProgram? {
    (settings.renderer ?? installedRenderer).map { DecoderProgram(path: $0, name: "thumbs-render") }
  }

  /// The paths of the installed `thumbs-decode` and `thumbs-decode-pdf`; nil if it is not installed. Looked for once.
  ///
  /// In the folder of the running program, as in a build folder; in `libexec` next to that folder, as installed; and
  /// where packages install it, for a program that is elsewhere.
  static let installed = path(of: .images)
  static let installedForDocuments = path(of: .documents)

  private static func path(of kind: DecoderKind) -> String? {
    first(
      running.map { ["\($0.folder)/\(kind.name)", "\($0.folder)/../libexec/thumbs/\(kind.name)"] },
      "/usr/libexec/thumbs/\(kind.name)", "/usr/local/libexec/thumbs/\(kind.name)")
  }

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

/// The kind of a program that decodes formats which are not trusted.
package enum DecoderKind: Sendable {
  /// Decodes images: `thumbs-decode`.
  case images
  /// Draws pages of PDF documents: `thumbs-decode-pdf`.
  case documents

  /// True if the program is installed.
  var isInstalled: Bool {
    switch self {
    case .images: DecoderProgram.installed != nil
    case .documents: DecoderProgram.installedForDocuments != nil
    }
  }

  /// The name of the program.
  package var name: String {
    switch self {
    case .images: "thumbs-decode"
    case .documents: "thumbs-decode-pdf"
    }
  }

  /// The Debian package that has it.
  package var package: String {
    switch self {
    case .images: "thumbs-decoders"
    case .documents: "thumbs-decode-pdf"
    }
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
