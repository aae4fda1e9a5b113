public import Foundation
public import HTTPTypes
public import ImageCache

extension ThumbnailRequest {
  /// Creates a request for one image in the sizes of `specs`.
  public init(url: URL, specs: [ThumbnailSpec], headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url.absoluteString, specs: specs, headerFields: headerFields, priority: priority)
  }

  /// Creates a request for one thumbnail that fits in a square of `size` pixels.
  public init(url: URL, size: Int, headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url.absoluteString, size: size, headerFields: headerFields, priority: priority)
  }
}
