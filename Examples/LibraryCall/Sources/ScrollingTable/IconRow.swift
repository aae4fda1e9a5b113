import BatchFetch
import Foundation

/// A row of the table: an app and its icon.
struct IconRow: Decodable, Sendable {
  enum State: Sendable {
    case empty
    /// The fraction that is downloaded; nil if it is not known.
    case loading(Double?)
    case loaded(ThumbnailSet)
    case missing(FetchFailure)
  }

  private enum CodingKeys: CodingKey {
    case name, icon
  }

  let name: String
  /// The URL of the icon.
  let icon: String
  var state = State.empty

  init(name: String, icon: String, state: State = .empty) {
    self.name = name
    self.icon = icon
    self.state = state
  }

  /// The rows of a property list: an array of dictionaries with `name` and `icon`.
  static func list(at path: String) throws -> [IconRow] {
    try PropertyListDecoder().decode([IconRow].self, from: Data(contentsOf: URL(filePath: path)))
  }

  /// True if the row has an icon or a failure.
  var isSettled: Bool {
    switch state {
    case .loaded, .missing: true
    case .empty, .loading: false
    }
  }

  /// The row as one line.
  var text: String {
    switch state {
    case .empty: name
    case .loading(let fraction): name + ": " + (fraction.map { "\(Int($0 * 100)) %" } ?? "…")
    case .loaded(let set): "\(name): \(set.thumbnails[0].size) of \(set.source.size), \(set.origin)"
    case .missing(let failure): "\(name): \(failure.code)"
    }
  }
}
