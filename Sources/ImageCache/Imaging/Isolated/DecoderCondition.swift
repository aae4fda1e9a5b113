import CDecodeChannel

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
      missingPackages = lacking.map(\.package) + (hello.hasFilter == 1 ? [] : ["libseccomp-dev"])
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
