import KiiPushEmulator
import SeededNumbers
import Testing

@Suite struct FaultScriptTests {
    private static let conditions: [(String, FaultStep.Condition)] = [
        ("", .atOnce),
        ("after 3 requests", .requests(3, RequestPattern())),
        ("after 1 request to GET /api/apps/*/users/**", .requests(1, RequestPattern("GET", "/api/apps/*/users/**"))),
        ("after 2 requests to /api/*", .requests(2, RequestPattern(nil, "/api/*"))),
        ("after 5 s", .time(.seconds(5))),
        ("after 5s", .time(.seconds(5))),
        ("after 250 ms", .time(.milliseconds(250))),
        ("after 2 min", .time(.seconds(120))),
        ("at message 10 of any", .messages(10, of: nil)),
        ("at message 1 of all", .messages(1, of: nil)),
        ("at message 1 of installation ab1", .messages(1, of: "ab1")),
        ("at message 1 of ab1", .messages(1, of: "ab1")),
    ]

    private static let actions: [(String, FaultStep.Action)] = [
        (
            "answer 503 for 5 s",
            .requests(.refusal(503, code: nil), for: .time(.seconds(5)), RequestPattern())
        ),
        (
            "answer 400 LOCK_FAILED for 2 requests to PUT /x",
            .requests(.refusal(400, code: "LOCK_FAILED"), for: .requests(2), RequestPattern("PUT", "/x"))
        ),
        (
            "close connections for 1 request",
            .requests(.disconnect, for: .requests(1), RequestPattern())
        ),
        (
            "delay answers by 200 ms for 3 requests to /api/**",
            .requests(.delay(.milliseconds(200)), for: .requests(3), RequestPattern(nil, "/api/**"))
        ),
        ("drop connection of all", .clients(.dropConnection, of: nil)),
        ("drop connection of ab1", .clients(.dropConnection, of: "ab1")),
        ("lose session of installation ab1", .clients(.loseSession, of: "ab1")),
        ("take over client of any", .clients(.takeOver(.seconds(1)), of: nil)),
        ("take over client of ab1 for 20 s", .clients(.takeOver(.seconds(20)), of: "ab1")),
        ("hold acknowledgements of any for 2 s", .clients(.holdAcknowledgements(.seconds(2)), of: nil)),
        ("renumber", .clients(.renumber, of: nil)),
        ("drop message 2 of any", .clients(.message(2, .drop), of: nil)),
        ("duplicate message 1 of ab1", .clients(.message(1, .duplicate), of: "ab1")),
    ]

    @Test func everyConditionIsUnderstoodBeforeEveryAction() throws {
        for (condition, expectedCondition) in Self.conditions {
            for (action, expectedAction) in Self.actions {
                let text = condition.isEmpty ? action : "\(condition) \(action)"
                let steps = try FaultScript(parsing: text).steps
                #expect(steps.map(\.condition) == [expectedCondition], "\(text)")
                #expect(steps.map(\.action) == [expectedAction], "\(text)")
                #expect(steps.map(\.text) == [text])
            }
        }
    }

    @Test func stepsAreSetApartByLinesAndSemicolons() throws {
        let text = "# comment; with a semicolon\r\n\n  after 3\trequests  renumber ;lose session of a#b # x; y\r\n;;\n"
        let steps = try FaultScript(parsing: text + "\trenumber;#end").steps
        #expect(steps.map(\.line) == [3, 3, 5])
        #expect(steps.map(\.text) == ["after 3 requests renumber", "lose session of a#b", "renumber"])
    }

    @Test(
        arguments: [
            ("", "line 1, column 1: there is no step, such as: after 3 requests answer 503 for 5 s"),
            ("\n# renumber\n;", "line 1, column 1: there is no step, such as: after 3 requests answer 503 for 5 s"),
            (
                "renumber\n anwser 503 for 5 s",
                "line 2, column 2: 'anwser' is not known here; there is after, at, answer, close, delay, drop, duplicate, "
                    + "hold, lose, renumber, take"
            ),
            (
                "after 5 s after 5 s renumber",
                "line 1, column 11: 'after' is not known here; there is answer, close, delay, drop, duplicate, hold, lose, "
                    + "renumber, take"
            ),
            (
                "renumber; answer 200 for 5 s",
                "line 1, column 18: '200' is not known here; there is a whole number from 400 to 599"
            ),
            ("answer 503 # for 5 s", "line 1, column 11: the step ends too early; there is for"),
            (
                "answer 503 no-code for 1 request",
                "line 1, column 12: 'no-code' is not known here; there is for, or before it an error code such as "
                    + "LOCK_FAILED"
            ),
            ("answer 503 for 5", "line 1, column 17: the step ends too early; there is ms, s, min, request, requests"),
            ("answer 503 for 5h", "line 1, column 17: 'h' is not known here; there is ms, s, min, request, requests"),
            (
                "delay answers by 601 s for 1 request",
                "line 1, column 18: '601' is not known here; there is a time of up to 600.0 seconds"
            ),
            ("delay answers by 5 requests", "line 1, column 20: 'requests' is not known here; there is ms, s, min"),
            (
                "after 0 requests renumber",
                "line 1, column 7: '0' is not known here; there is a whole number from 1 to 1000000"
            ),
            (
                "after 99999999999999999999 s renumber",
                "line 1, column 7: '99999999999999999999' is not known here; there is a whole number from 1 to 1000000"
            ),
            (
                "at message 3 of any",
                "line 1, column 20: the step ends too early; there is answer, close, delay, drop, duplicate, hold, lose, "
                    + "renumber, take"
            ),
            ("at message 3 any", "line 1, column 14: 'any' is not known here; there is of"),
            ("drop it", "line 1, column 6: 'it' is not known here; there is connection, message"),
            (
                "take over client of installation",
                "line 1, column 33: the step ends too early; there is the ID of an installation, or any"
            ),
            (
                "after 1 request to FETCH /x renumber",
                "line 1, column 20: 'FETCH' is not known here; there is GET, HEAD, POST, PUT, PATCH, DELETE, and a path "
                    + "such as /api/**"
            ),
            (
                "after 1 request to GET /**/x renumber",
                "line 1, column 24: '/**/x' is not known here; there is a path such as /api/**"
            ),
            ("renumber now", "line 1, column 10: 'now' is not known here; there is nothing more in this step"),
            (
                "lose session of e\u{301} now",
                "line 1, column 20: 'now' is not known here; there is nothing more in this step"
            ),
        ]
    )
    func anErrorSaysWhereItIsAndWhatIsKnown(text: String, expected: String) throws {
        let error = #expect(throws: FaultScriptError.self) { try FaultScript(parsing: text) }
        #expect(error?.description == expected)
    }

    @Test func stepsAndWordsOfErrorsAreBounded() throws {
        let most = Array(repeating: "renumber", count: 1000)
        #expect(try FaultScript(parsing: most.joined(separator: ";")).steps.count == 1000)
        let error = #expect(throws: FaultScriptError.self) {
            try FaultScript(parsing: (most + ["renumber"]).joined(separator: "\n"))
        }
        #expect(error?.description == "line 1001, column 1: there are more than 1000 steps")
        for word in [String(repeating: "x", count: 100_000), "x" + String(repeating: "\u{301}", count: 100_000)] {
            let error = #expect(throws: FaultScriptError.self) { try FaultScript(parsing: word) }
            #expect((error?.message.utf8.count ?? 1000) < 300)
        }
    }

    /// Random text from words of scripts. Either the text parses, and so does the script as it is then shown; or the
    /// error has a position in the text.
    @Test func whateverIsWrittenHasAMeaningOrAPlace() throws {
        let examples = Self.conditions.map(\.0) + Self.actions.map(\.0)
        let words = examples.flatMap { $0.split(separator: " ").map(String.init) }
        let gaps = [" ", " ", " ", "  ", "\n", ";", "\t", " # "]
        var random = SeededGenerator(seed: 11)
        var understood = 0
        for _ in 0..<5000 {
            var text = Self.actions.randomElement(using: &random)?.0 ?? ""
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                text += gaps.randomElement(using: &random) ?? ""
                text += words.randomElement(using: &random) ?? ""
            }
            do throws(FaultScriptError) {
                let script = try FaultScript(parsing: text)
                let shown = try FaultScript(parsing: script.steps.map(\.text).joined(separator: "\n"))
                #expect(shown.steps.map(\.action) == script.steps.map(\.action), "\(text)")
                #expect(shown.steps.map(\.condition) == script.steps.map(\.condition), "\(text)")
                understood += 1
            } catch {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                try #require((1...lines.count).contains(error.line), "\(text)")
                #expect((1...lines[error.line - 1].count + 1).contains(error.column), "\(text)")
            }
        }
        #expect(understood > 1000)
    }
}
