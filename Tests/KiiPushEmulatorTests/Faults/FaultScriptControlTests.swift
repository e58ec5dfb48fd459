import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct FaultScriptControlTests {
    private func steps(_ kii: inout CloudHarness) throws -> [JSONValue] {
        try #require(kii.control("GET", "faults").json["steps"]?.array)
    }

    @Test func aScriptIsShownStepByStep() throws {
        var kii = CloudHarness(hasFaultProxy: true)
        let user = try kii.user()
        #expect(try self.steps(&kii) == [])
        let script: JSONValue = ["script": "# a comment\nafter 1 request answer 503 LOCK_FAILED for 1 request;renumber"]
        let posted = kii.control("POST", "faults", script)
        #expect(posted.status == 201)
        let text = "after 1 request answer 503 LOCK_FAILED for 1 request"
        let second: JSONValue = ["line": 2, "text": "renumber", "state": "waiting"]
        #expect(posted.json == ["steps": [["line": 2, "text": JSONValue(text), "state": "waiting"], second]])
        #expect(kii.call("GET", "users/me", token: user.token).status == 200)
        let running: JSONValue = ["line": 2, "text": JSONValue(text), "state": "running"]
        #expect(try self.steps(&kii) == [running, second])
        let refused = kii.call("GET", "users/me", token: user.token)
        expectRefusal(refused, "503 LOCK_FAILED")
        #expect(try self.steps(&kii).first?["state"]?.string == "done")
        #expect(kii.call("GET", "users/me", token: user.token).status == 200)
    }

    @Test func aStepAboutPacketsIsRefusedWithoutAProxy() throws {
        var kii = CloudHarness()
        let refused = kii.control("POST", "faults", ["script": "lose session of any\ndrop message 1 of any"])
        expectRefusal(refused, "409 FAULT_PROXY_MISSING")
        let words = "Line 2 of the script, `drop message 1 of any`, needs a proxy before the broker: "
        #expect(refused.json["message"]?.string?.hasPrefix(words) == true)
        #expect(try self.steps(&kii) == [])
    }

    @Test func connectionsAreClosedAndAnswersDelayed() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let text = "close connections for 1 request; delay answers by 200 ms for 1 s"
        kii.control("POST", "faults", ["script": JSONValue(text)])
        #expect(kii.call("GET", "users/me", token: user.token).isUnanswered)
        for _ in 0..<2 {
            let delayed = kii.call("GET", "users/me", token: user.token)
            #expect(delayed.status == 200 && delayed.effects.delay == .milliseconds(200))
        }
        kii.now = kii.now + .seconds(1)
        #expect(kii.call("GET", "users/me", token: user.token).effects.delay == .zero)
    }

    @Test func singleFaultsComeFirst() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("POST", "faults", ["script": "answer 503 for 1 request"])
        kii.control("POST", "faults", ["status": 500])
        let statuses = (1...3).map { _ in kii.call("GET", "users/me", token: user.token).status }
        #expect(statuses == [500, 503, 200])
    }

    @Test(arguments: ["DELETE faults", "POST reset", "another"]) func itEndsWhenItIsTold(how: String) throws {
        var kii = CloudHarness()
        kii.control("POST", "faults", ["script": "answer 503 for 5 s"])
        let before = kii.cloud.advanceFaults([], now: kii.now)
        #expect(before.due == kii.now + .seconds(5))
        let words = how.split(separator: " ").map(String.init)
        if words.count == 2 {
            kii.control(words[0], words[1])
        } else {
            kii.control("POST", "faults", ["script": "after 9 requests answer 503 for 1 request"])
        }
        #expect(kii.cloud.advanceFaults([], now: kii.now).due == nil)
        #expect(try self.steps(&kii).count == (words.count == 2 ? 0 : 1))
        #expect(kii.raw("GET", "/apps/none/users/me", []).status == 404)
    }

    @Test(
        arguments: [
            (#"{"script":"anwser 503"}"#, "/script is wrong in line 1, column 1: 'anwser' is not known here; there is"),
            (#"{"script":"renumber\n\n now"}"#, "/script is wrong in line 3, column 2: 'now' is not known here;"),
            (#"{"script":""}"#, "/script "), (#"{"script":7}"#, "/script "), (#"{"script":null}"#, "/script "),
            (#"{"script":"answer 503 for 5 s","status":500}"#, "/status is unknown"),
        ]
    )
    func whatIsNoScriptIsRefused(body: String, words: String) throws {
        var kii = CloudHarness(hasFaultProxy: true)
        let outcome = kii.control("POST", "faults", try JSONValue(parsing: body))
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
        #expect(outcome.json["message"]?.string?.hasPrefix(words) == true, "\(outcome.json)")
        #expect(try self.steps(&kii) == [])
    }

    @Test func aDeedComesWithTheClientsThatItIsFor() throws {
        var kii = CloudHarness(hasFaultProxy: true)
        let users = try [kii.user(), kii.user()]
        let (first, second) = try (kii.installation(of: users[0]), kii.installation(of: users[1]))
        let names = [first, second].map { $0.topic.split(separator: "/").last.map(String.init) ?? "" }
        let online = BrokerConnections.Status(connections: 1, changedAt: kii.now)
        kii.cloud.presence = { [names[1]: online] }
        let expected: [(String, [String])] = [
            ("lose session of \(first.id)", [names[0]]), ("lose session of any", names.sorted()),
            ("drop connection of all", [names[1]]), ("drop connection of \(first.id)", []),
            ("take over client of none", []), ("hold acknowledgements of \(second.id) for 1 s", [names[1]]),
        ]
        for (script, clients) in expected {
            #expect(kii.control("POST", "faults", ["script": JSONValue(script)]).status == 201)
            let task = try #require(kii.cloud.advanceFaults([], now: kii.now).task, "\(script)")
            #expect(task.clients.map(\.username).sorted() == clients, "\(script)")
            #expect(kii.cloud.advanceFaults([.began(task.place)], now: kii.now).task == nil)
            #expect(try self.steps(&kii).first?["state"]?.string == "running")
            _ = kii.cloud.advanceFaults([.ended(task.place, problem: nil)], now: kii.now)
            #expect(try self.steps(&kii).first?["state"]?.string == "done")
        }
    }

    @Test func messagesThatTheBrokerHasTakenAreCounted() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let installation = try kii.installation(of: user)
        let script = "at message 2 of \(installation.id) drop connection of all"
        kii.control("POST", "faults", ["script": JSONValue(script)])
        let topics = [installation.topic, "push/somebody", ""]
        #expect(kii.cloud.advanceFaults([.published(topics)], now: kii.now).task == nil)
        #expect(kii.cloud.advanceFaults([.published(topics)], now: kii.now).task?.deed == .dropConnection)
    }

    /// The fault proxy cannot read packets inside TLS, even if the client connects after the step began.
    @Test func aStepThatCannotReadPacketsSaysSo() throws {
        var kii = CloudHarness(hasFaultProxy: true)
        let user = try kii.user()
        let installation = try kii.installation(of: user)
        let name = installation.topic.split(separator: "/").last.map(String.init) ?? ""
        let online = BrokerConnections.Status(connections: 1, changedAt: kii.now)
        func problem() throws -> String? { try self.steps(&kii).first?["problem"]?.string }
        kii.cloud.presence = { [:] }
        kii.control("POST", "faults", ["script": JSONValue("drop message 1 of \(installation.id)")])
        let task = try #require(kii.cloud.advanceFaults([], now: kii.now).task)
        _ = kii.cloud.advanceFaults([.began(task.place)], now: kii.now)
        #expect(try problem() == nil)
        kii.cloud.presence = { [name: online] }
        #expect(try problem()?.hasPrefix("installation \(installation.id) is connected over TLS, ") == true)
        kii.cloud.proxiedUsernames = { [name] }
        #expect(try problem() == nil)
        // A step that ended keeps its problem.
        kii.cloud.proxiedUsernames = { [] }
        _ = kii.cloud.advanceFaults([.ended(task.place, problem: nil)], now: kii.now)
        kii.cloud.presence = { [:] }
        #expect(try problem()?.contains("TLS") == true)
    }
}
