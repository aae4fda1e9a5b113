import CStatfs
import Glibc
import ImageCache

/// The proof of what a thumbnail was made from, in the extended attribute `user.thumbs` of its file: a digest of the
/// URL and of everything that decides about its pixels, and its size. File systems without such attributes, and copies
/// that leave them out, have no proof.
struct OutputLabel: Hashable, Sendable {
  private static let attribute = "user.thumbs"

  /// 32 hexadecimal digits.
  private let digest: String

  /// The label of the thumbnail of `row` with `spec`. Credentials are not part of it, because others may read it.
  init(_ row: ManifestRow, _ spec: ThumbnailSpec) {
    let expected = row.options.digest?.description ?? ""
    let text = ["\(Renderer.version)", Redaction.url(row.url), expected, spec.fingerprint].joined(separator: "\0")
    digest = String(BodyDigest(of: Array(text.utf8)).description.prefix(32))
  }

  /// Labels the open `file`, unless it is labeled already. On a failure, it has no label.
  func add(to file: Int32, _ size: PixelSize) {
    let text = Array("\(digest) \(size.width)x\(size.height)".utf8)
    if Self.value(of: file) != String(decoding: text, as: UTF8.self) {
      _ = fsetxattr(file, Self.attribute, text, text.count, 0)
    }
  }

  /// Returns the size of the thumbnail in `file`; nil if it has another label or none.
  func size(of file: Int32) -> PixelSize? {
    let parts = (Self.value(of: file) ?? "").split(separator: " ")
    guard parts.count == 2, parts[0] == digest else { return nil }
    let sides = parts[1].split(separator: "x").compactMap { Int($0) }
    return sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil
  }

  private static func value(of file: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = fgetxattr(file, attribute, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

extension OutputWriter {
  /// Returns the thumbnail in the file `name` if that has this `label`, is intact, and has no other purpose in this
  /// run.
  func existing(_ name: String, _ label: OutputLabel, _ spec: ThumbnailSpec, _ format: OutputFormat) -> Thumbnail? {
    guard let place = try? place(of: name) else { return nil }
    let file = openat(place.directory, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    var status = stat()
    guard file >= 0, let size = label.size(of: file), fstat(file, &status) == 0,
      let identity = FileIdentity(status), reserved.role(of: identity) == nil,
      let bytes = FileDescriptor.contents(of: file, count: Int(status.st_size)), ThumbnailMark.isPresent(in: bytes)
    else { return nil }
    return Thumbnail(spec: spec, size: size, format: format, bytes: bytes)
  }

  /// Labels the file at `place`, which has the expected bytes already.
  func relabel(_ place: borrowing OutputPlace, _ label: OutputLabel, _ size: PixelSize) {
    let file = openat(place.directory, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    label.add(to: file, size)
    close(file)
  }
}

extension OutputName {
  /// Returns the names that a file of `spec` may have, with their formats; none if they depend on its size in pixels.
  func possibleNames(of spec: ThumbnailSpec) -> [(name: String, format: OutputFormat)] {
    guard !dependsOnPixels else { return [] }
    let formats = spec.format.output.map { [$0] } ?? [.jpeg, .png, .webp, .avif]
    return formats.map { format in
      (fileName(of: Thumbnail(spec: spec, size: spec.box, format: format, bytes: [])), format)
    }
  }
}
