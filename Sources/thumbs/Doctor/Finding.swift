/// The result of one check of the machine. Its JSON fields are the properties: fields may be added; existing ones do
/// not change.
struct Finding: Hashable, Encodable, Sendable {
  /// The verdict.
  enum State: String, Encodable, Sendable {
    /// Nothing to do.
    case ok
    /// A run works, but slower or with fewer features.
    case warning
    /// A run, or a part of it, does not work.
    case problem
  }

  /// The name of the check, such as `cache`.
  let check: String
  let state: State
  /// One sentence for people, or a list of facts.
  let message: String
  /// One sentence that names the way to a better state; nil if there is nothing to do.
  let remedy: String?
  /// The facts for programs, by name.
  let values: [String: String]

  /// Creates a finding that needs no action.
  static func ok(_ check: String, _ message: String, _ values: [String: String] = [:]) -> Finding {
    Finding(check: check, state: .ok, message: message, remedy: nil, values: values)
  }

  /// Creates a finding that a run can live with.
  static func warning(
    _ check: String, _ message: String, remedy: String, _ values: [String: String] = [:]
  ) -> Finding {
    Finding(check: check, state: .warning, message: message, remedy: remedy, values: values)
  }

  /// Creates a finding that makes a run, or a part of it, fail.
  static func problem(
    _ check: String, _ message: String, remedy: String, _ values: [String: String] = [:]
  ) -> Finding {
    Finding(check: check, state: .problem, message: message, remedy: remedy, values: values)
  }
}
