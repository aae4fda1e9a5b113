import BatchFetch
import ImageCache
import Testing

@testable import ScrollingTable

/// Tests a view model on results that the test makes itself, without a pipeline.
@Suite struct IconRowTests {
  private func text(_ state: IconRow.State) -> String { IconRow(name: "App", icon: "", state: state).text }

  @Test func `A row shows the sizes of its icon, and where it came from`() {
    let spec = ThumbnailSpec(width: 48)
    let icon = Thumbnail(spec: spec, size: PixelSize(width: 48, height: 36), format: .jpeg, bytes: [])
    let source = SourceImage(size: PixelSize(width: 640, height: 480), format: .jpeg)
    let set = ThumbnailSet(
      origin: .disk, thumbnails: [icon], source: source, sourceBytes: 0, digest: BodyDigest(of: []))

    #expect(text(.loaded(set)) == "App: 48x36 of 640x480, disk")
  }

  @Test(arguments: [(FailureCode.http(404), "App: http_404"), (.timeoutTotal, "App: timeout_total")])
  func `A row without an icon shows the failure code`(code: FailureCode, expected: String) {
    #expect(text(.missing(FetchFailure(code, "The icon is missing."))) == expected)
  }
}
