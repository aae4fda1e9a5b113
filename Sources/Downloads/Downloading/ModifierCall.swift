internal import Synchronization

/// One call of a modifier. It ends once: with its result, or at its deadline.
final class ModifierCall: Sendable {
  typealias Completion = @Sendable (Result<RequestAttempt, FetchFailure>) -> Void

  private let completion: Mutex<Completion?>
  private let tasks = Mutex<[Task<Void, Never>]>([])

  private init(_ completion: @escaping Completion) { self.completion = Mutex(completion) }

  /// Calls `modifier`, and then `completion` once, on any thread, unless the call is canceled.
  ///
  /// - Parameters:
  ///   - limit: the maximum time that the modifier may take.
  ///   - after: runs a closure after a pause.
  static func start(
    _ modifier: RequestModifier, _ attempt: RequestAttempt, within limit: Duration,
    after: (Duration, @escaping @Sendable () -> Void) -> Task<Void, Never>, completion: @escaping Completion
  ) -> WorkHandle {
    let call = ModifierCall(completion)
    let timer = after(limit) {
      call.end(.failure(FetchFailure(.timeoutTotal, "The modifier of the request took longer than \(limit).")))
    }
    let work = Task {
      do throws(FetchFailure) {
        call.end(.success(try await modifier.modify(attempt)))
      } catch {
        call.end(.failure(error))
      }
    }
    call.keep([timer, work])
    return WorkHandle(cancel: { call.cancel() })
  }

  /// Keeps the tasks until the end. If that has come by now, they are canceled.
  private func keep(_ tasks: [Task<Void, Never>]) {
    self.tasks.withLock { $0 = tasks }
    if completion.withLock({ $0 == nil }) { cancel() }
  }

  private func end(_ result: Result<RequestAttempt, FetchFailure>) {
    let completion = completion.withLock { $0.take() }
    cancel()
    completion?(result)
  }

  private func cancel() {
    completion.withLock { $0 = nil }
    let running = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in running { task.cancel() }
  }
}
