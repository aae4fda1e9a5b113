/// A check of one aspect of the machine. Its properties are the facts, so that tests can make them up.
protocol DoctorCheck: Sendable {
  /// The results of the check, at least one.
  var findings: [Finding] { get }
}
