internal import Foundation
internal import HTTPTypes

/// The file `NAME.part.json`: what a later process must know to continue `NAME.part`.
struct PartRecord: Codable, Hashable {
  /// The version of the format. A file of another version is not continued.
  static let version = 1
  /// The fields that decide whether the bytes of two responses belong together; none of them is secret.
  private static let kept: [HTTPField.Name] = [
    .eTag, .lastModified, .date, .contentLength, .contentType, .acceptRanges,
  ]

  var version = Self.version
  /// Identifies the request; see ``DownloadRequest/fileIdentity(_:)``.
  let request: String
  /// Identifies the start of the system. After a crash of the system, a file may have holes.
  let boot: String
  let finalURL: String?
  let fields: [[String]]

  init(request: String, head: TransferHead) {
    self.request = request
    boot = Self.boot
    finalURL = head.finalURL
    fields = head.response.headerFields.filter { Self.kept.contains($0.name) }.map {
      [$0.name.canonicalName, $0.value]
    }
  }

  /// Reads the file at `path`. Nil if it has no record, one of another request, or one of an earlier start of the
  /// system.
  init?(path: String, request: String) {
    guard let data = try? Data(contentsOf: URL(filePath: path)),
      let record = try? JSONDecoder().decode(PartRecord.self, from: data),
      record.version == Self.version, record.request == request, record.boot == Self.boot
    else { return nil }
    self = record
  }

  /// The head of the response that the bytes are from.
  var head: TransferHead {
    var response = HTTPResponse(status: .ok)
    for field in fields where field.count == 2 {
      if let name = HTTPField.Name(field[0]) { response.headerFields.append(HTTPField(name: name, value: field[1])) }
    }
    return TransferHead(response: response, finalURL: finalURL)
  }

  /// Writes the record to the file at `path`, which only its owner may read: URLs after redirects may be signed.
  func write(to path: String) throws {
    let data = try JSONEncoder().encode(self)
    let (temporary, mode) = (path + ".new", 0o600)
    guard FileManager.default.createFile(atPath: temporary, contents: data, attributes: [.posixPermissions: mode]),
      rename(temporary, path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }

  private static let boot =
    (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
    .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

extension DownloadRequest {
  /// Returns a text that is the same for requests that get the same bytes. Secrets are in it as a digest only.
  func fileIdentity(_ variant: String) -> String {
    let fields = headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    let modification = modifier.map { ["modifier", $0.id] } ?? []
    let parts = [source.description, source.credentials ?? "", variant] + modification + fields
    return BodyDigest(of: Array(parts.joined(separator: "\n").utf8)).description
  }
}
