import Foundation

/// The sums over one channel of an image, each weighed by a wave across and a wave down.
///
/// A wave in two directions is the product of one in each. So every row is first summed with the waves across, and only
/// these few sums are multiplied by the waves down.
struct CosineSums {
  /// Eight waves at one place: element `n` has `n` half periods over the whole side.
  typealias Waves = SIMD8<Double>

  /// Differences below this are rounding errors. Those of images are above 1e-7: a step of one color in one pixel.
  static let noise = 1e-9

  /// The sums of a channel, normalized.
  struct Terms {
    /// The mean of the channel.
    var mean: Double
    /// The largest of the other sums, without its sign.
    var scale: Double
    /// The other sums divided by the scale, from 0 for -1 to 1 for 1. All are 0 if the scale is.
    var waves: [Double]
  }

  private var sums = [Waves](repeating: .zero, count: Waves.scalarCount)

  /// Adds a row, summed with the waves across. `down` are the waves at this row.
  mutating func add(_ row: Waves, at down: Waves) {
    for index in sums.indices { sums[index] += row * down[index] }
  }

  /// Returns the terms of a channel with so many waves of an image with `count` pixels.
  func terms(across: Int, down: Int, count: Int) -> Terms {
    var values: [Double] = []
    ThumbHash.forEachWave(across: across, down: down) { values.append(sums[$1][$0] / Double(count)) }
    let mean = values.removeFirst()
    let largest = values.reduce(0) { max($0, abs($1)) }
    guard largest > Self.noise else { return Terms(mean: mean, scale: 0, waves: values.map { _ in 0 }) }
    return Terms(mean: mean, scale: largest, waves: values.map { 0.5 + 0.5 / largest * $0 })
  }

  /// Returns the waves at each of `count` places on a side.
  static func waves(_ count: Int) -> [Waves] {
    (0..<count).map { place in
      let first = cos(Double.pi / Double(count) * (Double(place) + 0.5))
      var waves = Waves(repeating: 1)
      waves[1] = first
      // The recurrence of Chebyshev polynomials saves all cosines but one.
      for index in 2..<Waves.scalarCount { waves[index] = 2 * first * waves[index - 1] - waves[index - 2] }
      return waves
    }
  }
}
