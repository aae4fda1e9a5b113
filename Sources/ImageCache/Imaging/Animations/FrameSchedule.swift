/// The limits on the frames of an animated thumbnail.
struct AnimationLimits: Hashable, Sendable {
  /// The maximum number of frames of a thumbnail. Of longer animations, every second frame is left out, or more.
  var frames = 300
  /// The maximum length of a thumbnail in milliseconds. What comes later is left out.
  var milliseconds = 60_000
  /// The maximum number of pixels of all frames of a source, each as large as the canvas. What comes later is left out.
  var sourcePixels = 2_000_000_000
  /// The maximum number of pixels of all frames of a thumbnail. For more, every second frame is left out, or more.
  var thumbnailPixels = 100_000_000
}

/// The frames of an animation that a thumbnail shows. A plain value.
struct FrameSchedule: Hashable, Sendable {
  /// A frame of the thumbnail.
  struct Frame: Hashable, Sendable {
    /// The number of the frame in the file, from 0.
    var index: Int
    /// The milliseconds from the beginning to its appearance.
    var start: Int
  }

  let frames: [Frame]
  /// The length of the animation in milliseconds.
  let length: Int
  /// A sentence about the frames that are left out; nil if all are shown.
  let warning: String?

  /// Chooses the frames of an animation: those within the limits of time and of work, and of these the first of each
  /// group, all groups of the same size.
  ///
  /// - Parameters:
  ///   - durations: The time for which each frame of the file is shown, in milliseconds.
  ///   - canvas: The size of the animation.
  ///   - thumbnail: The size of the thumbnail.
  init(durations: [Int], canvas: PixelSize, thumbnail: PixelSize, limits: AnimationLimits) {
    let affordable = max(1, limits.sourcePixels / max(1, canvas.area))
    var (starts, end): ([Int], Int) = ([], 0)
    for duration in durations.prefix(affordable) where end < limits.milliseconds {
      starts.append(end)
      end += min(duration, limits.milliseconds - end)
    }
    let most = max(1, min(limits.frames, limits.thumbnailPixels / max(1, thumbnail.area)))
    let step = max(1, (starts.count + most - 1) / most)
    frames = stride(from: 0, to: starts.count, by: step).map { Frame(index: $0, start: starts[$0]) }
    length = end
    let (count, kept) = (durations.count, frames.count)
    warning = kept == count ? nil : "the thumbnail shows \(kept) of the \(count) frames of the animation"
  }
}
