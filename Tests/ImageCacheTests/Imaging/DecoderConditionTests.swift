import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite(.decoderLibraries) struct DecoderConditionTests {
  private static func condition(_ program: String) -> DecoderCondition {
    var isolation = DecoderIsolation()
    isolation.program = program
    return DecoderCondition(measuring: isolation)
  }

  @Test(.disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."))
  func `The condition of the program names its formats, libraries and protections`() {
    let condition = DecoderCondition()
    let measured = DecoderCondition(measuring: DecoderIsolation())

    #expect(condition.program == nil && condition.formats.isEmpty && !condition.isProtected)
    #expect(measured.program == HostileDecoder.folder.appending(path: "thumbs-decode").path && measured.failure == nil)
    #expect(Set(measured.formats + measured.missing) == [.avif, .heic, .jpeg2000, .jpegXL, .psd, .raw, .svg, .tiff])
    #expect(measured.libraries.count == measured.formats.count && measured.isProtected)
    #expect(measured.protections.contains("resource limits"))
  }

  @Test(.disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."))
  func `The program for documents has a condition, too`() {
    let measured = DecoderCondition.documents()
    var nowhere = DecoderIsolation()
    nowhere.documentProgram = ""

    #expect(measured.program == HostileDecoder.folder.appending(path: "thumbs-decode-pdf").path)
    #expect(measured.formats + measured.missing == [.pdf] && measured.isProtected && measured.outputs.isEmpty)
    #expect(DecoderCondition.documents(nowhere) == DecoderCondition())
  }

  @Test(arguments: [
    ("/none/thumbs-decode", "it cannot be started: No such file or directory"), ("/bin/true", "it ended before"),
  ])
  func `A program that does not run has a reason`(program: String, reason: String) {
    let condition = Self.condition(program)

    #expect(condition.failure?.hasPrefix(reason) == true)
    #expect(condition.program == program && !condition.isProtected && condition.formats.isEmpty)
  }

  @Test func `Formats whose libraries were missing are listed`() {
    // This decoder has formats of its tests only, at the places of AVIF and SVG.
    let condition = Self.condition(HostileDecoder.program)

    #expect(condition.formats == [.avif, .svg] && condition.missing.count == 6)
    #expect(
      condition.missingPackages == ["libopenjp2-7-dev", "libjxl-dev", "libheif-dev", "libraw-dev", "libtiff-dev"])
    #expect(condition.outputs == [.avif] && condition.encodingFault() == nil)
  }

  @Test func `A program that cannot encode AVIF has a reason`() {
    #expect(DecoderCondition().encodingFault()?.contains("thumbs-decoders") == true)
    #expect(Self.condition("/bin/true").encodingFault()?.hasPrefix("it ended before") == true)
    var condition = Self.condition(HostileDecoder.program)
    condition.isProtected = false
    #expect(condition.encodingFault()?.contains("--unsafe-decoders") == true)
    condition.missingPackages = ["libseccomp-dev"]
    #expect(condition.encodingFault()?.contains("libseccomp-dev") == true)
    var isolation = DecoderIsolation()
    isolation.allowsUnprotected = true
    #expect(condition.encodingFault(isolation) == nil)
    condition.outputs = []
    #expect(condition.encodingFault(isolation)?.contains("libaom") == true)
  }
}
