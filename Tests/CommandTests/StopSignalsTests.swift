import Glibc
import TestTraits
import Testing

@testable import KiiPushCore
@testable import kii_push

@Suite(.ownThreads) struct StopSignalsTests {
    @Test func aSystemWithoutThreadsIsAClearError() throws {
        let error = try #require(
            #expect(throws: CommandFailure.self) {
                try StopSignals(startThread: { _ throws(ThreadError) in throw ThreadError(code: EAGAIN) })
            })
        #expect(error.exit == .temporary)
        #expect(
            error.message
                == "cannot wait for ^C and SIGTERM: no thread can be started: Resource temporarily unavailable")
        #expect(error.hint?.contains("ulimit -u") == true)
    }
}
