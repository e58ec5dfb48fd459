import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct FaultScriptRunTests {
    private struct Play {
        var run = FaultScriptRun()
        var now = Timestamp(millisecondsSinceEpoch: 0)

        init(_ script: String) throws { self.run.play(try FaultScript(parsing: script), now: self.now) }

        mutating func request(_ method: String = "GET", _ path: String = "a/b") -> FaultStep.Answer? {
            self.run.requestCame(method: method, path: path.split(separator: "/").map(String.init), now: self.now)
        }

        /// Advances the clock by `time` and returns the deed that is then due.
        mutating func deed(after time: Duration = .zero) -> FaultStep.Deed? {
            self.now = self.now + time
            return self.run.takeDeed(now: self.now)?.0
        }

        mutating func end(_ problem: String? = nil) {
            self.run.began(self.run.place)
            self.run.ended(self.run.place, problem: problem, now: self.now)
        }

        var states: [FaultScriptRun.State] { self.run.steps.indices.map { self.run.state(of: $0) } }
    }

    private let refusal = FaultStep.Answer.refusal(503, code: nil)

    @Test func requestsAreCountedBeforeAndDuringAStep() throws {
        var play = try Play("after 3 requests answer 503 for 2 requests; close connections for 1 request")
        #expect((1...3).map { _ in play.request() } == [nil, nil, nil])
        #expect(play.states == [.running, .waiting])
        #expect((1...4).map { _ in play.request() } == [self.refusal, self.refusal, .disconnect, nil])
        #expect(play.states == [.done, .done])
    }

    @Test func aStepEndsWithItsTimeThoughNobodyLooks() throws {
        var play = try Play("answer 503 for 5 s; after 1 s delay answers by 1 s for 2 s")
        play.now = play.now + .milliseconds(4999)
        #expect(play.request() == self.refusal)
        play.now = play.now + .milliseconds(1)
        #expect(play.request() == nil)
        #expect(play.states == [.done, .waiting])
        play.now = play.now + .milliseconds(2999)
        #expect(play.request() == .delay(.seconds(1)))
        play.now = play.now + .milliseconds(1)
        #expect(play.request() == nil)
        #expect(play.states == [.done, .done])
    }

    @Test func onlyTheRequestsThatAreMeantCount() throws {
        var play = try Play("after 2 requests to PUT /a/* answer 503 for 1 request to /a/c")
        for (method, path) in [("GET", "a/b"), ("PUT", "a"), ("PUT", "a/b"), ("PUT", "a/b/c")] {
            #expect(play.request(method, path) == nil)
        }
        #expect(play.states == [.waiting])
        #expect(play.request("PUT", "a/c") == nil)
        #expect(play.states == [.running])
        #expect(play.request("GET", "a/b") == nil)
        #expect(play.request("GET", "a/c") == self.refusal)
        #expect(play.states == [.done])
    }

    @Test func aRequestThatMeetsSomethingElseIsCountedAndNotMet() throws {
        var play = try Play("after 1 request answer 503 for 1 request")
        for _ in 0..<2 {
            #expect(play.run.requestCame(method: "GET", path: [], isMet: true, now: play.now) == nil)
        }
        #expect(play.states == [.running])
        #expect(play.request() == self.refusal)
    }

    @Test func whatIsToBeDoneIsHandedOutOnceAndWaitedFor() throws {
        var play = try Play("after 100 ms lose session of a; drop connection of b")
        #expect(play.deed(after: .milliseconds(99)) == nil)
        #expect(play.deed(after: .milliseconds(1)) == .loseSession)
        #expect(play.deed(after: .seconds(10)) == nil)
        #expect(play.states == [.waiting, .waiting])
        play.run.began(play.run.place)
        #expect(play.states == [.running, .waiting])
        #expect(play.deed() == nil)
        play.end("nobody is there")
        #expect(play.run.problem(of: 0) == "nobody is there")
        #expect(play.run.takeDeed(now: play.now)?.installation == "b")
        play.end()
        #expect(play.run.problem(of: 1) == nil)
        #expect(play.states == [.done, .done])
        #expect(play.deed() == nil)
    }

    @Test func aWordAboutAnotherStepMeansNothing() throws {
        var play = try Play("lose session of any; lose session of any")
        let first = play.run.place
        // A step cannot end before `takeDeed` has returned its deed.
        play.run.ended(first, now: play.now)
        #expect(play.states == [.waiting, .waiting])
        #expect(play.deed() == .loseSession)
        play.end()
        #expect(play.deed() == .loseSession)
        play.run.began(first)
        play.run.ended(first, now: play.now)
        #expect(play.states == [.done, .waiting])
        let second = play.run.place
        play.run.play(try FaultScript(parsing: "lose session of any; lose session of any"), now: play.now)
        #expect(play.deed() == .loseSession)
        play.run.ended(second, now: play.now)
        #expect(play.states == [.waiting, .waiting])
    }

    @Test func messagesAreCountedForTheirInstallation() throws {
        var play = try Play("at message 2 of a renumber; at message 2 of any renumber")
        for installation in ["a", "b", "b"] {
            play.run.messageTaken(for: installation, now: play.now)
            #expect(play.deed() == nil)
        }
        play.run.messageTaken(for: "a", now: play.now)
        #expect(play.deed() == .renumber)
        // The second step counts messages from the end of the first step.
        play.run.messageTaken(for: "a", now: play.now)
        play.end()
        play.run.messageTaken(for: "a", now: play.now)
        #expect(play.deed() == nil)
        play.run.messageTaken(for: "b", now: play.now)
        #expect(play.deed() == .renumber)
    }

    @Test func anEndedScriptDoesNothing() throws {
        var play = try Play("answer 503 for 5 s")
        #expect(play.request() == self.refusal)
        let script = play.run.place.script
        play.run.end()
        #expect(play.run.place.script == script + 1)
        #expect(play.request() == nil)
        #expect(play.deed(after: .seconds(9)) == nil)
        #expect(play.states == [])
    }
}
