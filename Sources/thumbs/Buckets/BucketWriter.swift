import BatchFetch
import Dispatch
import ImageCache
import Synchronization

/// Stores the thumbnails of a run in a folder of a bucket. An object that has the same bytes already is not sent again.
///
/// Each object has a label: the SHA-256 of its bytes, what it was made from, and its size in pixels. An object without
/// a label was not made by `thumbs`.
final class BucketWriter: ThumbnailOutput {
  let directory: String
  private let folder: BucketFolder
  private let client: BucketClient
  private let replacement: OutputWriter.Replacement
  /// True if the folder had no objects when the run began, so that there is nothing to look at.
  private let isNew: Bool
  private let owners = Mutex(FileOwners())
  /// Hashes of the URLs of objects that the run reads. A collision costs a thumbnail its place.
  private let sources = Mutex<Set<Int>>([])

  /// Looks into `folder`, so that a wrong key or bucket is known before anything is downloaded.
  init(_ folder: BucketFolder, _ client: BucketClient, replacement: OutputWriter.Replacement) throws(OutputError) {
    (self.folder, self.client, self.replacement) = (folder, client, replacement)
    directory = folder.description
    do throws(FetchFailure) {
      isNew = try BucketClient.wait { client.list(folder, after: nil, maxKeys: 1, completion: $0) }.items.isEmpty
    } catch {
      throw OutputError(.create, "\(folder)/", .bucket(error))
    }
  }

  func reserve(_ row: ManifestRow) {
    for url in row.urls where BucketFolder.isURL(url) {
      guard let source = try? SourceURL(url) else { continue }
      sources.withLock { _ = $0.insert(source.description.byteHash) }
    }
  }

  func write(
    _ files: [OutputFile],
    completion: @escaping @Sendable (Result<[OutputWriter.WriteResult], OutputError>) -> Void
  ) {
    let row = RowUpload(count: files.count, completion)
    for (index, file) in files.enumerated() {
      write(file) { row.end(index, $0) }
    }
  }

  private func write(
    _ file: OutputFile, completion: @escaping @Sendable (Result<OutputWriter.WriteResult, OutputError>) -> Void
  ) {
    let url = folder.url(of: file.name)
    if let owner = file.owner, !owners.withLock({ $0.take(file.name, for: owner) }) {
      return completion(.failure(OutputError(.write, url, .taken)))
    }
    if sources.withLock({ $0.contains(url.byteHash) }) {
      return completion(.failure(OutputError(.write, url, .reserved(.source))))
    }
    let label = ObjectLabel(file)
    guard !isNew else { return store(file, label, at: url, completion) }
    client.look(url) { [self] result in
      switch result {
      case .failure(let failure): completion(.failure(OutputError(.write, url, .bucket(failure))))
      case .success(.object(let text)) where text.flatMap({ ObjectLabel($0) })?.digest == label.digest:
        completion(.success(.unchanged))
      case .success(.object(nil)) where replacement == .own:
        completion(.failure(OutputError(.write, url, .notOwn)))
      case .success: store(file, label, at: url, completion)
      }
    }
  }

  private func store(
    _ file: OutputFile, _ label: ObjectLabel, at url: String,
    _ completion: @escaping @Sendable (Result<OutputWriter.WriteResult, OutputError>) -> Void
  ) {
    let object = BucketClient.Object(
      bytes: file.thumbnail.bytes, mediaType: file.thumbnail.format.mediaType, label: label.text)
    client.write(object, to: url) { result in
      completion(result.map { .written }.mapError { OutputError(.write, url, .bucket($0)) })
    }
  }

  func search(for row: PlannedRow) -> (any ExistingSearch)? {
    guard !isNew, let candidates = row.candidates else { return nil }
    return ObjectSearch(candidates, in: folder, client)
  }

  func contains(_ name: String, length: Int) -> Bool { true }

  func remove(_ name: String, containing bytes: [UInt8]) {}

  func cancel() { client.cancel() }
}

/// The label of an object: the digest of its bytes, and perhaps the label of the thumbnail.
struct ObjectLabel: Hashable, Sendable {
  let digest: String
  /// The text of an ``OutputLabel``; empty for a file that is no thumbnail.
  private let source: Substring

  /// Reads the value of a header field; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard let digest = parts.first.flatMap({ BodyDigest(String($0)) }) else { return nil }
    self.digest = digest.description
    source = parts.count == 2 ? parts[1] : ""
  }

  /// The label of a thumbnail.
  init(_ file: OutputFile) {
    digest = BodyDigest(of: file.thumbnail.bytes).description
    source = file.label.map { $0.text(file.thumbnail.size)[...] } ?? ""
  }

  /// The label of a file that is no thumbnail.
  init(of bytes: [UInt8]) { (digest, source) = (BodyDigest(of: bytes).description, "") }

  /// The value of the header field.
  var text: String { source.isEmpty ? digest : "\(digest) \(source)" }

  /// Returns the size of a thumbnail with `bytes`; nil if it was not made as `label` says.
  func size(of bytes: [UInt8], _ label: OutputLabel) -> PixelSize? {
    BodyDigest(of: bytes).description == digest ? label.size(in: String(source)) : nil
  }
}

/// The uploads of the files of one row.
private final class RowUpload: Sendable {
  private struct State {
    var results: [OutputWriter.WriteResult]
    var failure: OutputError?
    var rest: Int
  }

  private let state: Mutex<State>
  private let completion: @Sendable (Result<[OutputWriter.WriteResult], OutputError>) -> Void

  init(count: Int, _ completion: @escaping @Sendable (Result<[OutputWriter.WriteResult], OutputError>) -> Void) {
    self.completion = completion
    state = Mutex(State(results: Array(repeating: .written, count: count), rest: count))
    if count == 0 { completion(.success([])) }
  }

  func end(_ index: Int, _ result: Result<OutputWriter.WriteResult, OutputError>) {
    let whole = state.withLock { state -> Result<[OutputWriter.WriteResult], OutputError>? in
      switch result {
      case .success(let outcome): state.results[index] = outcome
      case .failure(let failure): state.failure = state.failure ?? failure
      }
      state.rest -= 1
      guard state.rest == 0 else { return nil }
      return state.failure.map { .failure($0) } ?? .success(state.results)
    }
    if let whole { completion(whole) }
  }
}

/// The search for the objects of a row, which reads those that may be its thumbnails.
private final class ObjectSearch: ExistingSearch {
  private struct State {
    var found: [[(ExistingCandidate, Thumbnail)]]
    var rest: Int
  }

  private let candidates: [[ExistingCandidate]]
  private let folder: BucketFolder
  private let client: BucketClient
  private let state: Mutex<State>
  private let done = DispatchSemaphore(value: 0)

  init(_ candidates: [[ExistingCandidate]], in folder: BucketFolder, _ client: BucketClient) {
    (self.candidates, self.folder, self.client) = (candidates, folder, client)
    let count = candidates.reduce(0) { $0 + $1.count }
    state = Mutex(State(found: Array(repeating: [], count: candidates.count), rest: count))
    if count == 0 { done.signal() }
  }

  func start() {
    for (index, group) in candidates.enumerated() {
      for candidate in group {
        client.read(folder.url(of: candidate.name)) { [self] in end(index, candidate, try? $0.get()) }
      }
    }
  }

  private func end(_ index: Int, _ candidate: ExistingCandidate, _ object: BucketClient.Object?) {
    let thumbnail = object.flatMap { object in
      ObjectLabel(object.label)?.size(of: object.bytes, candidate.label).map { size in
        Thumbnail(spec: candidate.spec, size: size, format: candidate.format, bytes: object.bytes)
      }
    }
    let isComplete = state.withLock { state in
      if let thumbnail { state.found[index].append((candidate, thumbnail)) }
      state.rest -= 1
      return state.rest == 0
    }
    if isComplete { done.signal() }
  }

  func files() -> ExistingFiles? {
    done.wait()
    done.signal()
    return ExistingFiles(state.withLock { $0.found })
  }
}
