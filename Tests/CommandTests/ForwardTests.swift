import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct ForwardTests {
    private static func run(_ words: [String]) throws -> (session: EmulatorSession, run: RunningTool) {
        let session = try EmulatorSession()
        try session.succeed("register")
        let run = try session.tool.start(["run"] + words)
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        return (session, run)
    }

    @Test(arguments: [
        ("200 OK", "newData", "POST"), ("202 Accepted", "newData", "POST"), ("204 No Content", "noData", "POST"),
        ("408 -", "failed", "attempt 1, retry in 1.0 s"), ("425 -", "failed", "attempt 1, retry in 1.0 s"),
        ("429 -", "failed", "attempt 1, retry in 1.0 s"), ("500 -", "failed", "attempt 1, retry in 1.0 s"),
        ("503 -", "failed", "attempt 1, retry in 1.0 s"),
        ("302 Found\nLocation: /other", "failed", "attempt 1, retry in 1.0 s"),
        ("400 -", "dead", "rejected: the server refused it (HTTP 400); kept in the inbox"),
        ("422 -", "dead", "rejected: the server refused it (HTTP 422); kept in the inbox"),
        ("403 -", "failed", "attempt 1, retry in 1.0 s"), ("404 -", "failed", "attempt 1, retry in 1.0 s"),
        ("404 -\nKii-Push-Result: Rejected", "dead", "rejected: the server refused it (HTTP 404); kept in the inbox"),
        ("503 -\nKii-Push-Result: rejected", "failed", "attempt 1, retry in 1.0 s"),
        ("429 -\nRetry-After: 2", "failed", "attempt 1, retry in 2.0 s"),
        ("503 -\nRetry-After: 0", "failed", "attempt 1, retry in 1.0 s"),
    ])
    func answersByItsStatus(answer: String, word: String, detail: String) throws {
        let server = try HookServer { _ in answer }
        let (session, run) = try Self.run(["-f", "\(server.port)"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let start = "<-- \(word.padding(toLength: 14, withPad: " ", startingAt: 0)) #1  "
        let line = run.output(containing: start)
        #expect(line.contains(start + "POST localhost:\(server.port)  \(answer.prefix(3))  "))
        #expect(line.contains(detail))
        #expect(server.requests.allSatisfy { $0.head.first == "POST / HTTP/1.1" })
        run.stop()
    }

    @Test func thePayloadArrivesByteForByteAndTheFieldsSayWhatItIs() throws {
        let server = try HookServer { _ in "200 OK" }
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let url = "http://127.0.0.1:\(server.port)/secret/path?token=1"
        let run = try session.tool.start(["run", "--forward-to", url, "--json"])
        try session.succeed("send", "topic", "alerts", "--data", #"{"msg":"schön \\ \u0007","n":1.50}"#)
        let text = run.output(containing: #""type":"verdict""#)
        #expect(text.contains(#""handler":"POST 127.0.0.1:\#(server.port)","http_status":200"#))
        #expect(!text.contains("secret"))
        let request = try #require(server.requests.first)
        #expect(request.head.first == "POST /secret/path?token=1 HTTP/1.1")
        #expect(request.field("Content-Type") == "application/json")
        #expect(request.field("User-Agent")?.wholeMatch(of: UserAgentTests.standard) != nil)
        #expect(request.field("Kii-Push-Id") == "1")
        #expect(request.field("Kii-Push-Kind") == "pushToUser")
        #expect(request.field("Kii-Push-Topic") == "alerts")
        #expect(request.field("Kii-Push-Attempt") == "1")
        let reader = try InboxReader(
            stateDirectory: session.tool.home.appending(path: "state/kii-push/profiles/default").path)
        #expect(request.body == (try reader.trace(of: 1).payload))
        run.stop()
    }

    @Test func aServerThatIsNotThereHasFailed() throws {
        let (port, descriptor) = try { ($0.port, $0.descriptor) }(Loopback.bound())
        defer { close(descriptor) }
        let (session, run) = try Self.run(["-f", "http://127.0.0.1:\(port)/"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = run.output(containing: "<-- failed")
        #expect(line.contains("POST 127.0.0.1:\(port)  no answer: "))
        run.stop()
    }

    @Test(arguments: [HookServer.Body.endless, .missing, .cut])
    func theStatusIsTheAnswerWhateverBecomesOfTheBody(body: HookServer.Body) throws {
        let server = try HookServer(body: body) { _ in "200 OK" }
        let (session, run) = try Self.run(["-f", "\(server.port)"])
        for number in 1...2 {
            try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
            let line = "<-- newData        #\(number)  POST localhost:\(server.port)  200  "
            #expect(run.output(containing: "#\(number)  ").contains(line))
        }
        #expect(server.requests.count == 2)
        run.stop()
    }

    @Test func aServerThatTakesTooLongHasFailed() throws {
        let arrived = DispatchSemaphore(value: 0)
        let server = try HookServer { _ in
            arrived.signal()
            return nil
        }
        let (session, run) = try Self.run(["-f", "\(server.port)", "--forward-timeout", "1s"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = run.output(containing: "<-- failed")
        #expect(line.contains("POST localhost:\(server.port)  no answer: "))
        // On a busy machine the tool may give up on the first attempt before it is sent; one of the retries arrives.
        #expect(arrived.wait(timeout: .now() + 600) == .success)
        run.stop()
    }

    /// The server gives the delay in seconds, or as a date of its own clock.
    @Test(arguments: [
        "Retry-After: 4", "Date: Sun, 06 Nov 1994 08:49:37 GMT\nRetry-After: Sun, 06 Nov 1994 08:49:41 GMT",
    ])
    func aServerThatNamesATimeIsLeftAloneUntilThen(fields: String) throws {
        let begin = MonotonicInstant.now()
        let answeredAt = Locked<[MonotonicInstant]>([])
        let server = try HookServer { _ in
            answeredAt.withLock { times in
                times.append(.now())
                return times.count == 1 ? "503 -\n\(fields)" : "204 -"
            }
        }
        let (session, run) = try Self.run(["-f", "\(server.port)"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- noData         #1").contains("<-- noData         #1"))
        let times = answeredAt.withLock { $0 }
        #expect(times.count == 2)
        // The normal retry delay is 1 s. The tolerance of 1 s below 4 s allows for differences of the two clocks.
        #expect(try #require(times.last) - #require(times.first) > .seconds(3))
        #expect(times[0] > begin)
        run.stop()
    }

    @Test func whatIsHeldBackForTheServerHasNoAttemptAndHoldsUpNoStop() throws {
        let server = try HookServer { _ in "429 -\nRetry-After: 86400" }
        let (session, run) = try Self.run(["-f", "\(server.port)"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- failed").contains("attempt 1, retry in 5 min"))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let reason = "not handling   localhost:\(server.port) wants to be left alone until "
        #expect(run.error(containing: reason).contains(reason))
        run.signal(SIGTERM)
        let result = run.waitForExit()
        #expect(result.exit == 0)
        #expect(server.requests.count == 1)
        let reader = try InboxReader(stateDirectory: session.stateDirectory)
        #expect(try reader.ledger().waiting == 2)
        #expect(try !reader.trace(of: 2).events.contains { if case .failed = $0.kind { true } else { false } })
    }

    @Test(arguments: [
        ("3000", "http://localhost:3000/", "localhost:3000"),
        ("3000/a/b?c", "http://localhost:3000/a/b?c", "localhost:3000"),
        ("/a", "http://localhost/a", "localhost"), ("https://example.com", "https://example.com", "example.com"),
        ("HTTP://[::1]:80/x", "HTTP://[::1]:80/x", "[::1]:80"),
    ])
    func targetsHaveShortForms(text: String, url: String, host: String) throws {
        let target = try #require(ForwardTarget(argument: text))
        #expect(target.url == url)
        #expect(target.host == host)
    }

    @Test(arguments: [
        "", "0", "65536", "ftp://a/", "http://", "http://user:secret@host/", "http://a b/", "localhost:3000", "3000x",
        "http:///path", "http://ü/",
    ])
    func everythingElseIsNoTarget(text: String) { #expect(ForwardTarget(argument: text) == nil) }
}
