import ArgumentParser
import Foundation
import Glibc
import ImageCache

/// The place of the only thumbnail of a run, if `-o` names that in place of a directory: a file name with the extension
/// of an image, or `-` for standard output.
struct SingleOutput {
  /// The directory of the file.
  let directory: String
  /// The name of the file.
  let template: NameTemplate
  /// The format that the extension of the file stands for; nil for that of `--format`.
  let format: ThumbnailSpec.Format?
  private let isStandardOutput: Bool

  /// Creates the place that `path` names; nil if that is a directory.
  init?(_ path: String) throws {
    isStandardOutput = path == "-"
    if isStandardOutput {
      guard let temporary = Workplace.make() else {
        throw ExitCode.cannotCreate.printing("Cannot create a directory for temporary files.")
      }
      (directory, format) = (temporary, nil)
      template = NameTemplate(pieces: [.literal("image."), .field(.ext)])
      return
    }
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    let name = parts.last.map(String.init) ?? ""
    guard let format = Self.format(of: path) else { return nil }
    directory =
      parts.count == 1 ? "." : parts.count == 2 && parts[0].isEmpty ? "/" : String(path.dropLast(name.count + 1))
    template = NameTemplate(pieces: [.literal(name)])
    self.format = format
  }

  /// Throws a `ValidationError` if the run may have several thumbnails, or if an option says something else.
  ///
  /// - Parameter inputs: The arguments of the run.
  func check(
    _ path: String, _ inputs: [ManifestInput], _ pixels: PixelOptions, _ naming: NamingOptions, _ output: OutputOptions
  ) throws {
    let place = isStandardOutput ? "-o - is for one image" : "-o \(path.printable) names the file of one image"
    guard inputs.count == 1, inputs[0].item != nil, pixels.specs.count == 1 else {
      throw ValidationError("\(place); for several, name a directory.")
    }
    if naming.pattern != nil || naming.mirror {
      throw ValidationError("\(place); it cannot be used with --name-template and --mirror.")
    }
    if let format, pixels.format != .auto, pixels.format != format {
      throw ValidationError("\(place), but its extension is not that of --format \(pixels.format.rawValue).")
    }
    if isStandardOutput, [output.report, output.summary].contains("-") {
      throw ValidationError("\(place), so the report and the summary cannot be standard output.")
    }
  }

  /// Writes the thumbnail to standard output if it belongs there.
  func deliver() throws {
    guard isStandardOutput else { return }
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw OutputError(action: .write, path: path, code: EIO)
      }
      try FileDescriptor.write([UInt8](bytes)[...], to: STDOUT_FILENO, path: "standard output")
    }
  }

  /// Removes the temporary files.
  func end() {
    if isStandardOutput { try? FileManager.default.removeItem(atPath: directory) }
  }

  /// Throws a `ValidationError` if `path` does not name a directory, for a command that may have several thumbnails.
  static func refuse(_ path: String) throws {
    guard path == "-" || format(of: path) != nil else { return }
    throw ValidationError("-o \(path.printable) is for one image; name a directory.")
  }

  /// Returns the format that the extension of the file name stands for; nil for a directory or any other name.
  private static func format(of path: String) -> ThumbnailSpec.Format? {
    let name = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map(Substring.init)
    let parts = (name ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, parts.dropLast().contains(where: { !$0.isEmpty }), !isDirectory(path),
      ["jpg", "jpeg", "png", "webp", "avif", "gif"].contains(parts[parts.count - 1].lowercased())
    else { return nil }
    return ThumbnailSpec.Format(argument: String(parts[parts.count - 1]))
  }

  private static func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }
}

/// A directory for the files that a run writes before they get to their place.
enum Workplace {
  /// Makes a directory that only this user can read. Returns its path; nil with `errno` if that fails.
  static func make() -> String? {
    let base = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var path = Array("\(base)/thumbs-XXXXXX".utf8CString)
    return path.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
  }
}
