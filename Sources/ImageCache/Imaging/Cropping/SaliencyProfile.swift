/// The places along one side of an image that attract attention.
struct SaliencyProfile {
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
