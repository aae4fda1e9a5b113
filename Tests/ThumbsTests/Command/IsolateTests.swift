import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: isolation", .timeLimit(.minutes(20)), .disabled(if: Sanitizer.isOn, "The sandbox stops it."))
struct IsolateTests {
  private static let drawing = Array(
    "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><rect width='8' height='8'/></svg>"
      .utf8)

  @Test func `With all formats isolated, the thumbnails are the same`() async throws {
    let fixture = try CommandFixture {
      switch $0.target {
      case "/drawing.svg": .http(200, [:], Self.drawing)
      case "/photo.jpg": .http(200, [:], SampleImage.jpeg(width: 900, height: 600))
      case "/page.png": .http(200, [:], Array("<html>".utf8))
      default: .icon()
      }
    }
    let list = try fixture.list(["/drawing.svg", "/photo.jpg", "/page.png", "/icon.png"])
    var files: [[String: Data]] = []
    for scope in ["untrusted", "all"] {
      let result = try await fixture.start(fixture.fetchArguments([list, "--isolate", scope])).result()

      #expect(result.ending == .exit(1), "\(result.errors)")
      #expect(try fixture.report().compactMap(\.code) == ["not_an_image"])
      files.append(Dictionary(uniqueKeysWithValues: try fixture.outputs().map { ($0, try fixture.data("out/\($0)")) }))
      try FileManager.default.removeItem(atPath: fixture.cache)
    }

    #expect(files[0].count == 3 && files[0] == files[1])
  }
}
