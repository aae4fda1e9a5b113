internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// Reads and writes objects on the server of a remote cache.
final class RemoteStore: Sendable {
  /// The maximum numbers of reads and writes at once.
  static let (readWidth, writeWidth) = (16, 16)

  private let configuration: RemoteCache
  private let reads: RemoteLane
  private let writes: RemoteLane

  /// - Parameter now: The time of the breakers, which never goes back.
  init(_ configuration: RemoteCache, transport: any Transport, now: @escaping @Sendable () -> Duration) {
    self.configuration = configuration
    reads = RemoteLane(
      width: Self.readWidth, timeout: configuration.readTimeout, transport: transport, now: now)
    writes = RemoteLane(
      width: Self.writeWidth, timeout: configuration.writeTimeout, transport: transport, now: now)
  }

  /// The time that lookups have cost the run. See ``RemoteBreaker/lost``.
  var lost: Duration { reads.lost }

  /// Returns the part of `limit` that is left for uploads. See ``RemoteBreaker/uploadTime(within:)``.
  func uploadTime(within limit: Duration) -> Duration { reads.uploadTime(within: limit) }

  /// Records the end of a lookup. See ``RemoteBreaker/looked(for:isHit:among:at:)``.
  func looked(for duration: Duration, isHit: Bool, among images: Int) {
    reads.looked(for: duration, isHit: isHit, among: images)
  }

  /// Reads an object. Returns a handle that can cancel this and change its priority.
  ///
  /// - Parameters:
  ///   - name: The name of the object.
  ///   - maxBytes: The maximum length of the object.
  ///   - priority: The order among the reads that wait.
  ///   - decode: Returns the value of the object; nil if it is unusable.
  ///   - completion: Called exactly once, on any queue. May take its time.
  func get<Value: Sendable>(
    _ name: String, maxBytes: Int, _ priority: Priority, decode: @escaping @Sendable ([UInt8]) -> Value?,
    completion: @escaping @Sendable (RemoteResult<Value>) -> Void
  ) -> WorkHandle {
    let limits = configuration.readLimits(maxBytes: maxBytes)
    do throws(FetchFailure) {
      let request = try configuration.location.get(name, limits: limits)
      return reads.add(
        RemoteExchange(request, priority: priority) { response, elapsed in
          let result = RemoteResult(response, decode: decode)
          // A server that is always slow would cost more than it saves.
          let isSlow = elapsed > limits.total / 2
          let verdict = isSlow && result.verdict == .success ? .failure : result.verdict
          return RemoteExchange.Ending(verdict: verdict) { completion(result) }
        })
    } catch {
      completion(.failed(RemoteProblem(error)))
      return WorkHandle {}
    }
  }

  /// Writes an object. Returns a handle that can cancel this.
  ///
  /// - Parameter completion: Called exactly once, on any queue, with nil if the server has the object. May take its
  ///   time.
  func put(_ object: RemoteObject, completion: @escaping @Sendable (RemoteProblem?) -> Void) -> WorkHandle {
    let isS3 = configuration.location.signer != nil
    do throws(FetchFailure) {
      let request = try configuration.location.put(
        object.bytes, as: object.name, object.condition, limits: configuration.writeLimits)
      return writes.add(
        RemoteExchange(request, priority: .normal) { response, _ in
          let problem = RemoteProblem(writing: response, object.condition, isS3: isS3)
          let verdict = problem.map { RemoteBreaker.Verdict($0) } ?? .success
          return RemoteExchange.Ending(verdict: verdict) { completion(problem) }
        })
    } catch {
      completion(RemoteProblem(error))
      return WorkHandle {}
    }
  }
}

extension RemoteResult {
  fileprivate init(
    _ response: Result<RemoteExchange.Response, FetchFailure>, decode: ([UInt8]) -> Value?
  ) {
    switch response {
    case .failure(let failure): self = .failed(RemoteProblem(failure))
    case .success(let response) where response.status == 200:
      self = decode(response.body).map { .found($0) } ?? .failed(.unusable)
    case .success(let response) where [404, 410].contains(response.status): self = .missing
    case .success(let response): self = .failed(RemoteProblem(status: response.status))
    }
  }

  fileprivate var verdict: RemoteBreaker.Verdict {
    if case .failed(let problem) = self { RemoteBreaker.Verdict(problem) } else { .success }
  }
}

extension RemoteProblem {
  fileprivate init(status: Int) { self = .error("The server responded with status \(status).") }

  /// The problem of a write; nil if the server has stored the object, or had it already.
  fileprivate init?(
    writing response: Result<RemoteExchange.Response, FetchFailure>, _ condition: RemoteObject.Condition, isS3: Bool
  ) {
    switch response {
    case .failure(let failure): self.init(failure)
    case .success(let response) where (200...299).contains(response.status): return nil
    // RFC 9110, section 15.5.13.
    case .success(let response) where condition == .absent && response.status == 412: return nil
    // S3 if two writers meet. In WebDAV, a parent collection is missing (RFC 4918, section 9.7.1).
    case .success(let response) where condition == .absent && response.status == 409 && isS3: return nil
    case .success(let response): self.init(status: response.status)
    }
  }
}

extension RemoteBreaker.Verdict {
  /// The server has done its part if an object is unusable: another writer may have damaged it.
  fileprivate init(_ problem: RemoteProblem) {
    switch problem {
    case .cancelled, .skipped: self = .abandoned
    case .unusable: self = .success
    case .timeout, .error: self = .failure
    }
  }
}
