import CImage

/// Passes the rows of a C decoder on to a ``RowSink``.
///
/// The C structures do not keep this object alive, and must not be used after it is gone.
final class CImageSink {
  private let sink: any RowSink
  /// The colors of an image in planes.
  private let colors: ColorTransform?

  init(_ sink: any RowSink, colors: ColorTransform? = nil) { (self.sink, self.colors) = (sink, colors) }

  /// The destination of pixels. The caller has called ``RowSink/begin(_:)``.
  var pixels: CImageRowSink {
    CImageRowSink(
      context: Unmanaged.passUnretained(self).toOpaque(),
      needed: { context, plane in CImageSink.at(context).sink.needed(ofPlane: Int(plane)) },
      skip: { context, counts in CImageSink.at(context).sink.skip([Int(counts[0])]) },
      take: { context, rows in
        CImageSink.call(context) { target throws(ImageError) in try target.sink.take([rows.pointee]) }
      })
  }

  /// The destination of luma and chroma planes.
  var planes: CImagePlaneSink {
    var rows = pixels
    rows.skip = { context, counts in CImageSink.at(context).sink.skip((0..<3).map { Int(counts[$0]) }) }
    rows.take = { context, rows in
      CImageSink.call(context) { target throws(ImageError) in try target.sink.take([rows[0], rows[1], rows[2]]) }
    }
    return CImagePlaneSink(
      begin: { context, planes in
        CImageSink.call(context) { target throws(ImageError) in
          try target.begin([planes[0], planes[1], planes[2]])
        }
      }, rows: rows)
  }

  private func begin(_ planes: [CImagePlane]) throws(ImageError) {
    try sink.begin(DecodedShape(layout: .planes, planes: planes.map(PlaneShape.init), colors: colors))
  }

  /// Returns the object that `context` points to.
  private static func at(_ context: UnsafeMutableRawPointer?) -> CImageSink {
    guard let context else { preconditionFailure("A decoder lost the context of its sink.") }
    return Unmanaged<CImageSink>.fromOpaque(context).takeUnretainedValue()
  }

  /// Calls `body` with the object that `context` points to, and converts its error to a status.
  private static func call(
    _ context: UnsafeMutableRawPointer?, _ body: (CImageSink) throws(ImageError) -> Void
  ) -> CImageStatus {
    do throws(ImageError) {
      try body(at(context))
      return .OK
    } catch {
      // Only allocations can fail.
      return .outOfMemory
    }
  }
}

extension PlaneShape {
  fileprivate init(_ plane: CImagePlane) {
    let (width, height) = (Int(plane.width), Int(plane.height))
    self.init(
      size: PixelSize(width: width, height: height),
      area: PixelBox(
        left: 0, top: 0, right: Double(width) * plane.stepAcross, bottom: Double(height) * plane.stepDown))
  }
}
