/// Whether a shared download runs or rests. A plain value: every event says what is to be done.
struct SharedDownloadState<Operation> {
  typealias Wish = Downloader.Running.CommonWish

  private enum Phase {
    case resting(DownloadState), running(Operation), stopping(Operation), over
  }

  enum Action {
    case none
    case start(Operation)
    case pause(Operation)
    case cancel(Operation)
    /// The download is over without any operation to say so.
    case end
    case setPriority(Operation, ThumbnailRequest.Priority)
  }

  private var phase = Phase.resting(DownloadState())
  private var wish = Wish(priority: .normal, isPaused: true, revision: 0)

  /// The priority that its callers want.
  var priority: ThumbnailRequest.Priority { wish.priority }

  /// Its callers want it like this. An older wish that comes late is ignored.
  mutating func want(_ wish: Wish, make: (DownloadState) -> Operation) -> Action {
    guard wish.revision > self.wish.revision else { return .none }
    self.wish = wish
    switch phase {
    case .resting(let rest): return wish.isPaused ? .none : start(make(rest))
    case .running(let operation) where wish.isPaused:
      phase = .stopping(operation)
      return .pause(operation)
    case .running(let operation), .stopping(let operation): return .setPriority(operation, wish.priority)
    case .over: return .none
    }
  }

  /// Its operation has stopped. Who has changed their mind meanwhile gets the next one at once. Where the download was
  /// cancelled meanwhile, that operation will not say so.
  mutating func rest(_ rest: DownloadState, make: (DownloadState) -> Operation) -> Action {
    guard case .stopping = phase else { return .end }
    if !wish.isPaused { return start(make(rest)) }
    phase = .resting(rest)
    return .none
  }

  /// Nobody wants it any more, or everybody shall be told so.
  mutating func cancel() -> Action {
    defer { phase = .over }
    switch phase {
    case .running(let operation), .stopping(let operation): return .cancel(operation)
    case .resting: return .end
    case .over: return .none
    }
  }

  /// Its operation brought an end.
  mutating func finish() { phase = .over }

  private mutating func start(_ operation: Operation) -> Action {
    phase = .running(operation)
    return .start(operation)
  }
}
