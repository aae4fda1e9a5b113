// Reads arbitrary bytes as the fields of a source that another machine has uploaded, with the right checksums, and
// decides what follows from it for machines in different states. The first byte selects the state.

import Foundation

// Seen by the files of the layers above, too.
@_exported @testable public import ImageCache

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  let record = RecordFrame.seal(.source) { $0.add(raw: Array(bytes.dropFirst())) }
  guard let object = RemoteObjectFrame(key: nil).seal(codec.name(of: key), record: record),
    let source = codec.source(in: object, key: key, url: url)
  else { return 0 }
  check(source, Machine(choices: first))
  return 0
}

private let url = "https://img.example/1.jpg"
private let key = SourceKey(url: url)
private let codec = RemoteObjectCodec(secret: nil)
private let specs = [ThumbnailSpec(width: 64), ThumbnailSpec(width: 32)]

/// The state of the machine that looks up the source.
private struct Machine {
  let mode: CacheMode
  let level: FailLevel
  let local: RemoteQuery.Local
  let now: Date
  let found: [ThumbnailSpec]

  init(choices: UInt8) {
    mode = choices & 1 == 0 ? .normal : .refresh
    level = choices & 2 == 0 ? .error : .none
    now = Date(timeIntervalSince1970: choices & 4 == 0 ? 1_790_000_000 : 2_000_000_000)
    found = choices & 8 == 0 ? specs : Array(specs.dropLast())
    let own = Machine.ownSource(at: choices & 16 == 0 ? 1_000_000_000 : 1_900_000_000)
    let image = CachedImage(CacheEntry(source: own, thumbnails: [:], origin: .disk))
    switch choices >> 5 & 3 {
    case 0: local = .nothingFresh(nil)
    case 1: local = .fresh(own)
    default: local = .nothingFresh(image)
    }
  }

  private static func ownSource(at time: Int) -> StoredSource {
    let policy = CachePolicy(
      status: 200, fields: ResponseFields([.cacheControl: "max-age=60"]), requestedAt: time, respondedAt: time)
    let image = SourceImage(size: PixelSize(width: 640, height: 480), format: .jpeg)
    return StoredSource(
      url: url, status: 200, policy: policy, content: .image(image, digest: BodyDigest(of: []), bytes: 1))
  }

  var isLocallyFresh: Bool { if case .fresh = local { true } else { false } }
}

private func check(_ source: StoredSource, _ machine: Machine) {
  let size = PixelSize(width: 1, height: 1)
  let thumbnails = machine.found.map { ($0, Thumbnail(spec: $0, size: size, format: .png, bytes: [])) }
  let finding = RemoteFinding(source: source, thumbnails: Dictionary(uniqueKeysWithValues: thumbnails))
  let query = RemoteQuery(key: key, url: url, specs: specs, local: machine.local)
  let decision = RemoteDecision(finding, query, mode: machine.mode, failLevel: machine.level, now: machine.now)
  let mayServe =
    machine.mode == .normal && (machine.isLocallyFresh || source.policy.sharedState(at: machine.now) == .fresh)
  switch decision {
  case .serve(let image):
    precondition(mayServe && machine.found == specs, "a stale or incomplete image")
    precondition(image.source == source && specs.allSatisfy { image.thumbnails[$0] != nil }, "another image")
  case .fail(let failure, let kept):
    precondition(mayServe && kept == source && source.digest != nil, "a failure that does not follow from the bytes")
    let code = ImageError.Code(rawValue: failure.code.description)
    precondition(code.map { !machine.level.tolerates($0) } ?? true, "a tolerated failure")
  case .confirm(let image):
    precondition(!mayServe && machine.found == specs, "an image that could be served, or an incomplete one")
    let fields = image.source.policy.conditionalFields
    precondition(fields.allSatisfy { $0.value.utf8.count <= 1024 }, "a long validator")
    _ = image.source.policy.mayServeStaleOnError(at: machine.now)
  case .proceed: break
  }
}
