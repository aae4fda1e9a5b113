extension AddressPolicy {
  /// Stands for the policy in the key of a cache entry.
  package var cacheText: String {
    let name =
      switch rule {
      case .noLinkLocal: "noLinkLocal"
      case .publicOnly: "publicOnly"
      case .predicate(let predicate): "predicate \(predicate.id)"
      }
    let names = exceptions.map { exception in
      switch exception {
      case .host(let pattern): "host \(pattern)"
      case .addresses(let range): "range \(range)"
      }
    }
    return ([name] + names).joined(separator: ", ")
  }
}
