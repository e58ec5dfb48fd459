import Glibc
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore

@Suite(.ownThreads) struct StopSignalsTests {
    @Test func aSystemWithoutThreadsIsAClearError() throws {
        let error = try #require(
            #expect(throws: SystemError.self) {
                try StopSignals(startThread: { _ throws(SystemError) in throw SystemError(noThread: EAGAIN) })
            })
        let failure = CommandFailure(describing: error)
        #expect(failure.exit == .temporary)
        #expect(
            failure.message
                == "cannot wait for ^C and SIGTERM: no thread can be started: Resource temporarily unavailable")
        #expect(failure.hint?.contains("ulimit -u") == true)
    }
}
