/// The properties that the header of a file declares, whatever its format.
struct ImageHeader: Sendable {
  /// The format of the file.
  var format: SourceFormat
  /// The size as stored, before the orientation is applied.
  var storedSize: PixelSize
  /// The layout of the decoded pixels.
  var layout: PixelLayout
  /// The transform from the stored to the displayed image.
  var orientation = Orientation.upright
  /// Harmless oddities.
  var warnings: [String] = []

  /// The description of the source for callers.
  var source: SourceImage { SourceImage(size: orientation.applied(to: storedSize), format: format) }

  /// Reads the orientation from an EXIF block, or adds a warning if the block is malformed.
  mutating func readOrientation(exif block: Span<UInt8>) {
    do throws(Orientation.BadEXIF) {
      orientation = try Orientation(exif: block) ?? orientation
    } catch {
      // A file with thousands of malformed blocks gets one warning.
      let warning = "EXIF ignored: \(error.reason)"
      if !warnings.contains(warning) { warnings.append(warning) }
    }
  }
}
