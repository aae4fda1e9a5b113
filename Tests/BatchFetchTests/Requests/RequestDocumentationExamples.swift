import BatchFetch
import HTTPTypes
import ImageCache
import Testing

/// The code of the documentation comments, compiled as a client of the module would compile it.
@Suite struct RequestDocumentationExamples {
  @Test func `The example of ThumbnailRequest makes the request that it shows`() {
    var request = ThumbnailRequest(
      url: "https://example.com/photo.jpg",
      specs: [ThumbnailSpec(width: 64), ThumbnailSpec(width: 320, height: 180, fit: .cover)])
    request.mirrors = ["https://mirror.example.com/photo.jpg"]
    request.headerFields[.referer] = "https://example.com/"
    request.priority = .high

    #expect(request.specs.map(\.label) == ["64x64", "320x180"])
    #expect(request.mirrors.count == 1 && request.headerFields.count == 1)
    #expect(request.priority == Priority.high)
  }

  @Test func `The nested name of the priority still compiles`() {
    let priorities = ThumbnailRequest.Priority.allCases

    #expect(priorities == [Priority.low, .normal, .high] && priorities.sorted() == priorities)
  }
}
