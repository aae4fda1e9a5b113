import CImage

/// The canvas of an animation, on which its frames are drawn one after the other, as browsers do: in sRGB, with
/// straight alpha. It keeps what a frame hides only if that is shown again.
final class AnimationCanvas: RowSink {
  let bitmap: Bitmap
  /// The frame that is drawn or shown, and its visible part.
  private var frame: (frame: AnimationFrame, area: AnimationArea)?
  /// The pixels below the frame.
  private var hidden: Bitmap?
  private var shape: DecodedShape?
  /// The number of the next row of the frame.
  private var row = 0

  /// The number of rows whose colors are converted at once.
  private static let stripRows = 16

  /// Creates a transparent canvas.
  init(size: PixelSize) throws(ImageError) {
    bitmap = try Bitmap(size: size, layout: .rgba)
    bitmap.fill(0 as UInt8)
  }

  /// Removes the frame before, if it does not stay, and prepares for the rows of the next one.
  func begin(_ next: AnimationFrame) throws(ImageError) {
    dispose()
    let area = visible(next.area)
    (frame, row) = ((next, area), 0)
    hidden = nil
    guard next.disposal == .restore, area.size.area > 0 else { return }
    let copy = try Bitmap(size: area.size, layout: .rgba)
    part(area).copy(from: 0, to: copy.planes[0].view)
    hidden = consume copy
  }

  private func dispose() {
    guard let (frame, area) = frame, area.size.area > 0 else { return }
    switch frame.disposal {
    case .keep: break
    case .clear: cimage_fill(part(area), [0, 0, 0, 0])
    case .restore: if let view = hidden?.planes[0].view { view.copy(from: 0, to: part(area)) }
    }
  }

  func begin(_ shape: DecodedShape) throws(ImageError) { self.shape = shape }

  func needed(ofPlane index: Int) -> CImageArea {
    let size = shape?.planes[index].size ?? bitmap.size
    return CImageArea(left: 0, top: 0, right: Int32(size.width), bottom: Int32(size.height))
  }

  func skip(_ counts: [Int]) { row += counts[0] }

  func take(_ rows: [CImageBitmap]) throws(ImageError) {
    defer { row += Int(rows[0].height) }
    guard let (frame, area) = frame, let shape else { return }
    let count = min(Int(rows[0].height), area.size.height - row)
    guard count > 0, area.size.width > 0 else { return }
    for first in stride(from: 0, to: count, by: Self.stripRows) {
      let strip = rows[0].rows(from: first, count: min(Self.stripRows, count - first))
      let target = AnimationArea(
        left: area.left, top: area.top + row + first,
        size: PixelSize(width: area.size.width, height: Int(strip.height)))
      try draw(strip, shape, on: part(target), frame.blending)
    }
  }

  /// Draws rows in the colors of the frame.
  private func draw(
    _ rows: CImageBitmap, _ shape: DecodedShape, on target: CImageBitmap, _ blending: FrameBlending
  ) throws(ImageError) {
    let isOver: Int32 = blending == .over ? 1 : 0
    guard let colors = shape.colors else { return cimage_compose(rows, target, isOver) }
    // The decoder may need its rows again.
    let copy = try Bitmap(
      size: PixelSize(width: Int(rows.width), height: Int(rows.height)), layout: shape.layout)
    rows.copy(from: 0, to: copy.planes[0].view)
    colors.apply(to: copy.planes[0].view)
    cimage_compose(copy.planes[0].view, target, isOver)
  }

  /// Returns the part of an area that is on the canvas; its size may be 0.
  private func visible(_ area: AnimationArea) -> AnimationArea {
    let width = max(0, min(area.size.width, bitmap.size.width - area.left))
    let height = max(0, min(area.size.height, bitmap.size.height - area.top))
    return AnimationArea(left: area.left, top: area.top, size: PixelSize(width: width, height: height))
  }

  /// Returns an area of the canvas, which must be on it.
  private func part(_ area: AnimationArea) -> CImageBitmap {
    var view = bitmap.planes[0].view
    view.pixels += area.top * view.stride + 4 * area.left
    (view.width, view.height) = (Int32(area.size.width), Int32(area.size.height))
    return view
  }
}
