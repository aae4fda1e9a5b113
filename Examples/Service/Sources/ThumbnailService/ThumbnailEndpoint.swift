import BatchFetch
import Foundation
import Hummingbird
import ImageCache

/// The response to `GET /thumbnail?url=URL&size=PIXELS`.
struct ThumbnailEndpoint: Sendable {
  /// The sizes that may be requested: few, so that nobody fills the cache with all sizes of an image.
  static let sizes = [64, 128, 256, 512, 1024]

  let pipeline: ThumbnailPipeline
  /// The maximum time for the whole request.
  let timeout: Duration

  func response(to request: Request) async throws(ServiceError) -> Response {
    let thumbnailRequest = try thumbnailRequest(request.uri.queryParameters)
    do throws(FetchFailure) {
      let set = try await pipeline.thumbnails(for: thumbnailRequest)
      return response(set, unless: request.headers[.ifNoneMatch])
    } catch {
      throw ServiceError(error)
    }
  }

  private func thumbnailRequest(_ parameters: Parameters) throws(ServiceError) -> ThumbnailRequest {
    guard let url = parameters.get("url") else {
      throw ServiceError(.badRequest, code: "bad_url", message: "The parameter url is missing.")
    }
    guard let size = parameters.get("size", as: Int.self), Self.sizes.contains(size) else {
      throw ServiceError(.badRequest, code: "bad_size", message: "The parameter size must be one of \(Self.sizes).")
    }
    var request = ThumbnailRequest(url: url, size: size)
    request.timeout = timeout
    return request
  }

  /// Returns the thumbnail, or status 304 if its tag is one of `knownTags`: the client has it.
  private func response(_ set: ThumbnailSet, unless knownTags: String?) -> Response {
    let thumbnail = set.thumbnails[0]
    let tag = "\"\(set.digest)-\(thumbnail.spec.label)-\(Renderer.version)\""
    var headers: HTTPFields = [.eTag: tag, .cacheControl: cacheControl(until: set.freshUntil), .connection: "close"]
    if let knownTags, knownTags == "*" || knownTags.contains(tag) {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = thumbnail.format.mediaType
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: thumbnail.bytes)))
  }

  /// Lets clients keep the thumbnail for as long as its source is fresh, and at most for a year.
  private func cacheControl(until freshUntil: Date?) -> String {
    let seconds = min(freshUntil?.timeIntervalSinceNow ?? 0, 31_536_000)
    return seconds >= 1 ? "max-age=\(Int(seconds))" : "no-cache"
  }
}
