import Testing

@testable import ImageCache

@Suite struct `The schedule of frames` {
  private static let size = PixelSize(width: 10, height: 10)

  private static func schedule(_ durations: [Int], _ limits: AnimationLimits = AnimationLimits()) -> FrameSchedule {
    FrameSchedule(durations: durations, canvas: size, thumbnail: size, limits: limits)
  }

  @Test func `Within the limits, every frame appears when the ones before have ended`() {
    let schedule = Self.schedule([40, 100, 20])

    #expect(schedule.frames.map(\.index) == [0, 1, 2] && schedule.frames.map(\.start) == [0, 40, 140])
    #expect(schedule.length == 160 && schedule.warning == nil)
  }

  @Test func `Frames after the longest time are left out, and the last one is shortened`() {
    let schedule = Self.schedule([40, 100, 20, 50], AnimationLimits(milliseconds: 100))

    #expect(schedule.frames.map(\.start) == [0, 40] && schedule.length == 100)
    #expect(schedule.warning == "the thumbnail shows 2 of the 4 frames of the animation")
  }

  @Test(arguments: [(4, 7, 2, 4), (7, 7, 1, 7), (1, 7, 7, 1), (3, 7, 3, 3), (6, 7, 2, 4)])
  func `Of too many frames, the first of each group is shown as long as the group`(
    limit: Int, count: Int, step: Int, kept: Int
  ) {
    let schedule = Self.schedule(Array(repeating: 30, count: count), AnimationLimits(frames: limit))

    #expect(schedule.frames.map(\.index) == (0..<kept).map { $0 * step })
    #expect(schedule.frames.map(\.start) == (0..<kept).map { $0 * step * 30 } && schedule.length == count * 30)
    #expect((schedule.warning == nil) == (kept == count))
  }

  @Test func `Pixels of the thumbnail decimate, and pixels of the source end the animation`() {
    let durations = Array(repeating: 50, count: 8)
    let small = Self.schedule(durations, AnimationLimits(thumbnailPixels: 450))
    let short = Self.schedule(durations, AnimationLimits(sourcePixels: 399))

    #expect(small.frames.map(\.index) == [0, 2, 4, 6] && small.length == 400)
    #expect(short.frames.map(\.index) == [0, 1, 2] && short.length == 150)
  }

  @Test func `At least one frame is shown, whatever the limits`() {
    let limits = AnimationLimits(frames: 0, sourcePixels: 0, thumbnailPixels: 0)
    #expect(Self.schedule([50, 50], limits).frames.map(\.index) == [0])
  }
}
