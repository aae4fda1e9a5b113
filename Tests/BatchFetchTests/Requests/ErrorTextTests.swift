import Downloads
import Foundation
import ImageCache
import Testing

@Suite struct `The texts of errors` {
  @Test(
    arguments: [
      FetchFailure(.cancelled, "One sentence."), ImageError(.decodeError, "One sentence."),
      DiskCacheError(.busy, "One sentence."),
    ] as [any Error])
  func `The localized description is the message`(error: any Error) {
    #expect(error.localizedDescription == "One sentence.")
  }
}
