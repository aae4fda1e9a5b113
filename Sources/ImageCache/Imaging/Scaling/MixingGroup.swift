import CImage

/// Scales an image for all thumbnails that mix its pixels in the same way.
final class MixingGroup {
  private let planes: [PlaneScaler]
  /// Changes rows before they are scaled; nil if they are scaled as they are.
  private let prepare: ((CImageBitmap) -> Void)?

  /// Creates the scalers that fill `outputs` from planes of these shapes.
  init(
    _ outputs: [ScaledPixels], from shapes: [PlaneShape], channels: Int, kernels: KernelCache,
    prepare: ((CImageBitmap) -> Void)? = nil
  ) throws(ImageError) {
    self.prepare = prepare
    var planes: [PlaneScaler] = []
    for (index, shape) in shapes.enumerated() {
      let targets = outputs.map { Target(plane: $0.planes[index], step: $0.step) }
      planes.append(try Self.scaler(of: shape, channels, to: targets, mayHalve: index > 0, kernels))
    }
    self.planes = planes
  }

  /// One plane of a thumbnail.
  private struct Target {
    var plane: Plane
    var step: RenderPlan.Step
  }

  /// Creates the scaler of one plane.
  ///
  /// libjpeg gives chroma at up to four times the requested resolution, and the eye sees chroma less sharply than luma,
  /// so only the last step is worth a filter.
  private static func scaler(
    of shape: PlaneShape, _ channels: Int, to targets: [Target], mayHalve: Bool, _ kernels: KernelCache
  ) throws(ImageError) -> PlaneScaler {
    var scalers: [Scaler] = [], halfScalers: [Scaler] = []
    let half = mayHalve ? shape.halved : nil
    for target in targets {
      if let half, shape.isFourTimes(target.plane.shape) {
        halfScalers.append(try Scaler(from: half, to: target.plane, target.step, kernels))
      } else {
        scalers.append(try Scaler(from: shape, to: target.plane, target.step, kernels))
      }
    }
    guard let half, !halfScalers.isEmpty else { return PlaneScaler(shape, channels: channels, scalers: scalers) }
    let halfScaler = HalfPlaneScaler(size: half.size, PlaneScaler(half, channels: channels, scalers: halfScalers))
    return PlaneScaler(shape, channels: channels, scalers: scalers, half: halfScaler)
  }

  /// Returns the part of a plane that is needed.
  func needed(ofPlane index: Int) -> CImageArea { planes[index].needed }

  /// Omits the next rows of each plane.
  func skip(_ counts: [Int]) {
    for (plane, count) in zip(planes, counts) { plane.skip(count) }
  }

  /// True if there is at least one row.
  var hasRows: Bool { planes.contains(where: \.hasRows) }

  /// Supplies the missing rows, all samples of which are `sample`.
  func fillMissingRows(with sample: UInt8) throws(ImageError) {
    for plane in planes { try plane.fillMissingRows(with: sample) }
  }

  /// Takes the next rows of each plane.
  func take(_ rows: [CImageBitmap]) throws(ImageError) {
    for (plane, rows) in zip(planes, rows) { try plane.take(rows, prepare: prepare) }
  }
}
