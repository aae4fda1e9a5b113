import CImage

extension CImageArea {
  /// The area without any sample.
  static let nothing = CImageArea(left: .max, top: .max, right: 0, bottom: 0)

  /// Returns the smallest area that contains this one and `other`.
  func union(_ other: CImageArea) -> CImageArea {
    CImageArea(
      left: min(left, other.left), top: min(top, other.top), right: max(right, other.right),
      bottom: max(bottom, other.bottom))
  }

  /// This area; if it has no sample, that of the first sample.
  var orOneSample: CImageArea { left < right ? self : CImageArea(left: 0, top: 0, right: 1, bottom: 1) }

  /// The same part of an image with twice the columns and rows.
  var doubled: CImageArea { CImageArea(left: left * 2, top: top * 2, right: right * 2, bottom: bottom * 2) }
}
