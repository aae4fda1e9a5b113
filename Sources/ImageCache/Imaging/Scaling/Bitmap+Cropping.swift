import CImage
import Synchronization

extension Bitmap {
  /// Returns the part of this size, which is shorter on one side, that attracts the most attention; of a frame of an
  /// animation, the part that attracted it in the first one.
  consuming func smartlyCropped(to size: PixelSize, _ shared: FrameCrop? = nil) throws(ImageError) -> Bitmap {
    let place: FrameCrop.Place
    if let known = shared?.place {
      place = known
    } else {
      place = try smartPlace(of: size)
      shared?.place = place
    }
    return try cropped(to: size, left: place.left, top: place.top)
  }

  /// Returns the upper left corner of the part of this size that attracts the most attention.
  private borrowing func smartPlace(of size: PixelSize) throws(ImageError) -> FrameCrop.Place {
    let whole = self.size
    let cells = try CellColors(self)
    let step = layout == .planes && planes[1].size != whole ? 2 : 1
    if size.width < whole.width {
      let profile = SaliencyProfile(cells, along: .across, length: whole.width)
      return FrameCrop.Place(left: profile.start(ofWindow: size.width, in: whole.width, step: step), top: 0)
    }
    let profile = SaliencyProfile(cells, along: .down, length: whole.height)
    return FrameCrop.Place(left: 0, top: profile.start(ofWindow: size.height, in: whole.height, step: step))
  }

  /// Returns a copy of a part. If there are half as many chroma samples as pixels, `left` and `top` must be even.
  private func cropped(to size: PixelSize, left: Int, top: Int) throws(ImageError) -> Bitmap {
    let steps = planes.map { $0.size == self.size ? 1 : 2 }
    let shapes = steps.map { step in
      let size = size.divided(by: step, .up)
      return PlaneShape(size: size, area: PixelBox(size: size))
    }
    let target = try Bitmap(layout: layout, planes: shapes)
    for ((source, target), step) in zip(zip(planes, target.planes), steps) {
      var part = source.view
      part.pixels += top / step * source.stride + left / step * source.channels
      part.copy(from: 0, to: target.view)
    }
    return target
  }
}

/// The part that all frames of an animation show, which is chosen from the first one.
final class FrameCrop: Sendable {
  /// The upper left corner of a part.
  struct Place {
    var left, top: Int
  }

  private let chosen = Mutex(Place?.none)

  /// The part; nil before the first frame.
  var place: Place? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}

/// The places along one side of an image that attract attention.
private struct SaliencyProfile {
  /// The side along which a window can move.
  enum Axis {
    case across, down
  }

  /// The amounts of attention of the columns or rows of cells.
  private let amounts: [Float]
  /// The pixels before the first cell, and those of each cell.
  private let start, cell: Float

  /// Adds up the cells of an image whose side along `axis` has `length` pixels.
  ///
  /// Only what exceeds the mean counts, so that an even texture or color of the whole image has no effect.
  init(_ cells: CellColors, along axis: Axis, length: Int) {
    let size = cells.size
    let scores = cells.saliency
    let usual = scores.reduce(0, +) / Float(scores.count) + Self.noise
    let count = axis == .across ? size.width : size.height
    var amounts = Array(repeating: Float(0), count: count)
    for row in 0..<size.height {
      for column in 0..<size.width {
        let excess = max(0, scores[row * size.width + column] - usual)
        let (place, other) = axis == .across ? (column, (row, size.height)) : (row, (column, size.width))
        amounts[place] += excess * Self.centerWeight(other.0, of: other.1)
      }
    }
    self.amounts = amounts
    let cell = axis == .across ? cells.cell.width : cells.cell.height
    (start, self.cell) = (Float((length - cell * count) / 2), Float(cell))
  }

  /// The attention that rounding causes: twice that of an edge of one level.
  private static let noise: Float = 8.0 / 255

  /// The weight of a place across the axis: 1 in the middle, less toward both ends.
  private static func centerWeight(_ index: Int, of count: Int) -> Float {
    1 - 0.25 * ((Float(index) + 0.5) / Float(count) * 2 - 1).squared
  }

  /// Returns the start of the window of `length` pixels, of `whole`, that shows the most, a multiple of `step`. Among
  /// equal windows, it is the one nearest the middle.
  func start(ofWindow length: Int, in whole: Int, step: Int) -> Int {
    let free = whole - length
    let middle = free / 2 / step * step
    var best = (start: middle, amount: amount(from: middle, length))
    let margin = amounts.reduce(0, +) / 1000
    let stride = (max(step, free / 256) + step - 1) / step * step
    for distance in Swift.stride(from: stride, through: max(middle, free - middle), by: stride) {
      for start in [middle - distance, middle + distance] where (0...free).contains(start) {
        let amount = amount(from: start, length)
        if amount > best.amount + margin { best = (start, amount) }
      }
    }
    return best.start
  }

  /// Returns the attention in a window, in which the middle counts five times as much as both ends, so that a
  /// subject is not at an edge.
  private func amount(from first: Int, _ length: Int) -> Float {
    let half = Float(length) / 2
    let middle = (Float(first) + half - start) / cell - 0.5
    let reach = max(0.5, half / cell)
    var sum: Float = 0
    for index in amounts.indices {
      let distance = (Float(index) - middle) / reach
      if abs(distance) <= 1 { sum += amounts[index] * (1 - 0.8 * distance.squared) }
    }
    return sum
  }
}

extension Float {
  var squared: Float { self * self }
}

/// A coarse reduction of an image: the mean colors of cells in a grid, as luma and chroma.
struct CellColors {
  /// The size of the grid. The longer side has at most ``maxSide`` cells.
  let size: PixelSize
  /// The size of a cell in pixels. Even if there are half as many chroma samples as pixels, unless a side is 1.
  let cell: PixelSize
  /// The samples of the cells, row by row. Luma and alpha are 0 to 1, chroma is -0.5 to 0.5.
  private(set) var luma: [Float] = []
  private(set) var blue: [Float] = []
  private(set) var red: [Float] = []
  private(set) var alpha: [Float] = []

  private static let maxSide = 64

  /// Averages an image with straight alpha or none.
  init(_ bitmap: borrowing Bitmap) throws(ImageError) {
    let pixels = bitmap.size
    let side = (max(pixels.width, pixels.height) + 2 * Self.maxSide - 1) / (2 * Self.maxSide) * 2
    let cell = PixelSize(width: min(side, pixels.width), height: min(side, pixels.height))
    let size = PixelSize(width: pixels.width / cell.width, height: pixels.height / cell.height)
    (self.cell, self.size) = (cell, size)
    let means = try Bitmap(
      layout: bitmap.layout, planes: bitmap.planes.map { _ in PlaneShape(size: size, area: PixelBox(size: size)) })
    for (source, target) in zip(bitmap.planes, means.planes) {
      let step = source.size == pixels ? 1 : 2
      cimage_average(source.view, Int32(max(1, cell.width / step)), Int32(max(1, cell.height / step)), target.view)
    }
    read(means)
  }

  private mutating func read(_ means: borrowing Bitmap) {
    let (count, channels) = (size.area, means.layout.channels)
    if means.layout == .planes {
      (luma, blue, red) = (
        Self.samples(means.planes[0], 0, count), Self.samples(means.planes[1], 0, count).map { $0 - 0.5 },
        Self.samples(means.planes[2], 0, count).map { $0 - 0.5 }
      )
    } else if means.layout.isGray {
      luma = Self.samples(means.planes[0], 0, count)
      (blue, red) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
    } else {
      let colors = (0..<3).map { Self.samples(means.planes[0], $0, count) }
      // JFIF 1.02, page 3.
      luma = (0..<count).map { 0.299 * colors[0][$0] + 0.587 * colors[1][$0] + 0.114 * colors[2][$0] }
      blue = (0..<count).map { (colors[2][$0] - luma[$0]) / 1.772 }
      red = (0..<count).map { (colors[0][$0] - luma[$0]) / 1.402 }
    }
    alpha =
      means.layout.hasAlpha
      ? Self.samples(means.planes[0], channels - 1, count) : Array(repeating: 1, count: count)
  }

  /// Returns the samples of one channel.
  private static func samples(_ plane: Plane, _ channel: Int, _ count: Int) -> [Float] {
    (0..<count).map { Float(plane.samples[$0 * plane.channels + channel]) / 255 }
  }
}

extension CellColors {
  /// The attention that each cell attracts: edges of luma, colors of skin, and saturated colors, weighed by opacity.
  var saliency: [Float] {
    let (width, height) = (size.width, size.height)
    var scores = Array(repeating: Float(0), count: width * height)
    for row in 0..<height {
      let (above, below) = (max(0, row - 1) * width, min(height - 1, row + 1) * width)
      for column in 0..<width {
        let index = row * width + column
        let (left, right) = (row * width + max(0, column - 1), row * width + min(width - 1, column + 1))
        let around = luma[above + column] + luma[below + column] + luma[left] + luma[right]
        let edge = abs(4 * luma[index] - around)
        let color = Self.colorScore(luma: luma[index], blue: blue[index], red: red[index])
        scores[index] = (min(edge, 1) * Self.edgeWeight + color) * alpha[index]
      }
    }
    return scores
  }

  private static let edgeWeight: Float = 1
  private static let skinWeight: Float = 0.3
  private static let saturationWeight: Float = 0.5

  /// Returns the attention of a color. Skin of all tones lies near one chroma (Chai and Ngan 1999: Cb 77 to 127, Cr 133
  /// to 173). The chroma of dark colors is mostly noise.
  private static func colorScore(luma: Float, blue: Float, red: Float) -> Float {
    let fromSkin = (((blue + 0.1) / 0.1).squared + ((red - 0.1) / 0.08).squared).squareRoot()
    let skin = max(0, 1 - fromSkin)
    let saturation = (blue.squared + red.squared).squareRoot() * 2
    return (skin * skinWeight + saturation * saturationWeight) * min(1, luma * 5)
  }
}
