/// The needs of all thumbnails of an image, from which its decoder chooses how to decode it.
struct DecodingDemand: Sendable {
  /// The resolution that one thumbnail needs.
  struct Target: Sendable {
    /// Source pixels per thumbnail pixel in one direction; 1 if the thumbnail needs every pixel.
    var reduction: Double
    /// Thumbnail pixels per chroma sample in one direction: 2 for 4:2:0 output, otherwise 1.
    var chromaStep = 1
  }

  /// A form of decoded samples.
  enum Form {
    /// Pixels of the header's layout.
    case pixels
    /// Luma and chroma in separate planes, as most JPEG files store them. A decoder may return pixels instead.
    case planes
  }

  /// The resolution for each thumbnail. A decoder may shrink the image if at least twice the resolution remains.
  var targets: [Target]
  /// The form that all thumbnails can be made from.
  var form: Form
}
