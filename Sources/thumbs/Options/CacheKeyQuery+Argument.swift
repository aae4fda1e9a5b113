import ArgumentParser
import BatchFetch

extension CacheKeyQuery {
  /// Parses names separated by commas, `none` or `all`.
  init(argument text: String) throws {
    switch text {
    case "all": self = .all
    case "none": self = .only([])
    default:
      let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty && !$0.contains("=") && !$0.contains("&") }) else {
        throw ValidationError("give names of query parameters such as id,v, or none")
      }
      self = .only(Set(names))
    }
  }
}
