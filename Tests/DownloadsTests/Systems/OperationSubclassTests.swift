import DownloadSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Downloads

/// The operation subclass: its flags and its key-value notifications. On Linux, Foundation itself is the only observer
/// of these: they make dependents ready, remove an operation from its queue, call its completion block, and end
/// blocking waits.
@Suite(.timeLimit(.minutes(20))) struct OperationSubclassTests {
  private let work = ManualWork()
  private let queue = OperationQueue(width: 1)

  /// Everything in Foundation that observes an operation of another queue.
  private struct Observers {
    let dependent: BlockOperation
    let completions = Counter()
    let events = Recorder<String>()

    init(_ operation: Operation) {
      dependent = BlockOperation { [events] in events.record("dependent") }
      dependent.addDependency(operation)
      operation.completionBlock = { [events, completions] in
        completions.next()
        events.record("completion block")
      }
      OperationQueue().addOperation(dependent)
    }

    /// Returns when the operation has ended for all observers.
    func end() async { _ = await events.values(count: 2) }
  }

  // MARK: The life cycle

  @Test func `An operation is ready, then executing, then finished`() async {
    let operation = work.operation()
    let observers = Observers(operation)
    #expect(operation.flags == ["ready"] && operation.isAsynchronous && operation.result == nil)

    queue.addOperation(operation)
    _ = await work.beginnings.values(count: 1)
    #expect(operation.flags == ["ready", "executing"] && operation.isAsynchronous)
    #expect(!observers.dependent.isReady && observers.events.values.isEmpty && queue.operationCount == 1)

    work.end(.success(7))
    #expect(operation.flags == ["ready", "finished"] && operation.isAsynchronous)
    #expect(observers.dependent.isReady && queue.operationCount == 0)
    #expect(operation.result == .success(7))
    await observers.end()
    #expect(observers.events.values.count == 2 && work.requests.values.isEmpty)
  }

  @Test func `An operation canceled before it is queued finishes without work when its queue starts it`() async {
    let operation = work.operation()
    let observers = Observers(operation)

    operation.cancel()
    #expect(operation.flags == ["ready", "cancelled"] && operation.result == nil)
    #expect(!observers.dependent.isReady)

    queue.addOperation(operation)
    await observers.end()
    #expect(operation.flags == ["ready", "finished", "cancelled"] && operation.result == .failure(.cancelled))
    #expect(work.beginnings.values.isEmpty)
    await queue.becomesEmpty()
  }

  @Test func `An operation canceled while it is queued keeps its place until its turn, and does no work`() async {
    let (first, later) = (work.operation(), ManualWork())
    let operation = later.operation()
    let observers = Observers(operation)
    queue.addOperation(first)
    queue.addOperation(operation)
    _ = await work.beginnings.values(count: 1)

    operation.cancel()
    #expect(operation.flags == ["ready", "cancelled"] && queue.operationCount == 2)
    #expect(!observers.dependent.isReady)

    work.end(.success(1))
    await observers.end()
    #expect(operation.flags == ["ready", "finished", "cancelled"] && operation.result == .failure(.cancelled))
    #expect(later.beginnings.values.isEmpty)
    await queue.becomesEmpty()
  }

  @Test func `An operation canceled while it waits for a dependency finishes without the dependency`() async {
    let operation = work.operation()
    let dependency = Operation()
    operation.addDependency(dependency)
    let observers = Observers(operation)
    queue.addOperation(operation)
    #expect(operation.flags == [])

    operation.cancel()
    await observers.end()
    #expect(operation.flags == ["ready", "finished", "cancelled"] && operation.result == .failure(.cancelled))
    #expect(work.beginnings.values.isEmpty)
    withExtendedLifetime(dependency) {}
  }

  @Test func `An operation canceled while it executes finishes when its work has ended`() async {
    let work = ManualWork(isCancellable: false)
    let operation = work.operation()
    let observers = Observers(operation)
    queue.addOperation(operation)
    _ = await work.beginnings.values(count: 1)

    operation.cancel()
    #expect(work.requests.values == ["cancel"])
    #expect(operation.flags == ["ready", "executing", "cancelled"] && queue.operationCount == 1)
    #expect(!observers.dependent.isReady)

    work.end(.failure(.cancelled))
    #expect(operation.flags == ["ready", "finished", "cancelled"] && operation.result == .failure(.cancelled))
    await observers.end()
  }

  @Test func `A cancel after the end changes nothing`() async {
    let operation = work.operation()
    let observers = Observers(operation)
    queue.addOperation(operation)
    _ = await work.beginnings.values(count: 1)
    work.end(.success(7))
    await observers.end()

    operation.cancel()
    #expect(operation.flags == ["ready", "finished"] && operation.result == .success(7))
    #expect(work.requests.values.isEmpty && observers.events.values.count == 2)
  }

  @Test func `A second start changes nothing, neither during the work nor after it`() async {
    let operation = work.operation()
    let observers = Observers(operation)

    operation.start()
    operation.start()
    #expect(operation.flags == ["ready", "executing"] && work.beginnings.values.count == 1)

    work.end(.success(7))
    operation.start()
    await observers.end()
    #expect(operation.flags == ["ready", "finished"] && operation.result == .success(7))
    #expect(work.beginnings.values.count == 1 && observers.events.values.count == 2)
  }

  @Test func `Work may end before the call that begins it has returned`() async {
    let operation = FetchOperation<Int>(priority: .normal, progress: nil) { _, _, completion in
      completion(.success(7))
      return WorkHandle {}
    }
    let observers = Observers(operation)

    queue.addOperation(operation)
    await observers.end()
    #expect(operation.flags == ["ready", "finished"] && operation.result == .success(7))
  }

  @Test(arguments: [true, false])
  func `The request of a paused operation begins paused`(isPaused: Bool) async {
    let beginnings = Recorder<Bool>()
    let operation = FetchOperation<Int>(priority: .normal, progress: nil) { demand, _, completion in
      beginnings.record(demand.isPaused)
      return WorkHandle { completion(.failure(.cancelled)) }
    }

    operation.slot.setPaused(isPaused)
    operation.start()

    #expect(beginnings.values == [isPaused])
    operation.cancel()
    await operation.end()
  }

  // MARK: Races

  @Test func `An end that races a cancel finishes the operation once`() async {
    let rounds = (0..<500).map { _ in ManualWork() }
    let operations = rounds.map { $0.operation() }
    let observers = operations.map(Observers.init)
    for operation in operations { operation.start() }

    await race(rounds.count) {
      rounds[$0].end(.success($0))
    } against: {
      operations[$0].cancel()
    }

    for observer in observers { await observer.end() }
    for (index, operation) in operations.enumerated() {
      #expect(operation.isFinished && !operation.isExecuting)
      #expect([.success(index), .failure(.cancelled)].contains(operation.result))
    }
    #expect(observers.allSatisfy { $0.completions.value == 1 && $0.events.values.count == 2 })
  }

  @Test func `A start that races a cancel ends with the cancellation`() async {
    let rounds = (0..<500).map { _ in ManualWork() }
    let operations = rounds.map { $0.operation() }
    let observers = operations.map(Observers.init)

    await race(rounds.count) {
      operations[$0].start()
    } against: {
      operations[$0].cancel()
    }

    for observer in observers { await observer.end() }
    #expect(operations.allSatisfy { $0.flags == ["ready", "finished", "cancelled"] })
    #expect(operations.allSatisfy { $0.result == .failure(.cancelled) })
  }

  @Test func `Only one of two racing starts begins the work`() async {
    let rounds = (0..<500).map { _ in ManualWork() }
    let operations = rounds.map { $0.operation() }

    await race(rounds.count) {
      operations[$0].start()
    } against: {
      operations[$0].start()
    }

    #expect(rounds.allSatisfy { $0.beginnings.values.count == 1 })
    #expect(operations.allSatisfy { $0.flags == ["ready", "executing"] })
    for work in rounds { work.end(.success(1)) }
  }

  // MARK: Notifications

  @Test func `Blocking waits end after the operation has finished and its queue is empty`() async {
    let operation = work.operation()
    let events = Recorder<String>()
    queue.addOperation(operation)
    _ = await work.beginnings.values(count: 1)
    onThread {
      operation.waitUntilFinished()
      events.record(operation.isFinished ? "finished" : "too early")
    }
    onThread { [queue] in
      queue.waitUntilAllOperationsAreFinished()
      events.record(queue.operationCount == 0 ? "empty" : "too early")
    }

    events.record("end")
    work.end(.success(7))

    let recorded = await events.values(count: 3)
    #expect(recorded.first == "end" && Set(recorded) == ["end", "finished", "empty"])
  }

  @Test func `Foundation is notified of the start`() {
    // Canceling an operation that waits for a dependency makes it ready, unless Foundation knows that it is executing.
    let dependency = Operation()
    let operation = work.operation()
    let silent = SilentOperation()

    for started in [operation, silent] {
      started.addDependency(dependency)
      started.start()
      started.cancel()
    }

    #expect(operation.isCancelled && !operation.isReady)
    #expect(silent.isCancelled && silent.isReady)
    withExtendedLifetime(dependency) {}
  }

  @Test func `Without notifications, an operation that ends is not observed by anybody`() async {
    let operation = SilentOperation()
    let observers = Observers(operation)
    queue.addOperation(operation)
    _ = await operation.starts.values(count: 1)

    operation.finish()
    #expect(operation.flags == ["ready", "finished"])
    #expect(!observers.dependent.isReady && queue.operationCount == 1 && observers.events.values.isEmpty)

    operation.didChangeValue(for: \.isFinished)
    #expect(observers.dependent.isReady && queue.operationCount == 0)
    await observers.end()
  }
}

/// An operation that sends no notifications. The superclass makes it `@unchecked Sendable`; everything added here is
/// constant or inside a `Mutex`.
private final class SilentOperation: Operation, @unchecked Sendable {
  let starts = Recorder<Void>()
  private let state = Mutex((isExecuting: false, isFinished: false))

  override var isExecuting: Bool { state.withLock { $0.isExecuting } }
  override var isFinished: Bool { state.withLock { $0.isFinished } }

  override func start() {
    state.withLock { $0.isExecuting = true }
    starts.record(())
  }

  func finish() { state.withLock { $0 = (false, true) } }
}
