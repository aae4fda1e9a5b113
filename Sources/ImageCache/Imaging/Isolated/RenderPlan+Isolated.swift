extension RenderPlan {
  /// The bytes that are enough for the files of all thumbnails and a text about them: no format takes more than 8 bytes
  /// per pixel, besides its headers.
  var outputBytes: Int { allSteps.reduce(64 << 10) { $0 + (4 << 10) + 8 * $1.geometry.canvas.area } }
}
