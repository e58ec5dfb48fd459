import KiiPushCore
import KiiPushEmulator

/// Scripts of faults, read and played. The input is a seed for the events, and the script.
enum ScriptFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let seed = input.byte()
        let text = String(decoding: input.remainder(), as: UTF8.self)
        do throws(FaultScriptError) {
            let script = try FaultScript(parsing: text)
            let shown = try? FaultScript(parsing: script.steps.map(\.text).joined(separator: "\n"))
            claims.require(shown?.steps.map(\.action) == script.steps.map(\.action), "what is shown does the same")
            claims.require(shown?.steps.map(\.condition) == script.steps.map(\.condition), "and does it then")
            Self.play(script, seed, &claims)
        } catch {
            let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            claims.require((1...lines.count).contains(error.line), "an error is in a line of the script")
            let columns = lines[min(error.line, lines.count) - 1].count + 1
            claims.require((1...columns).contains(error.column), "an error is within its line")
            claims.require(error.message.utf8.count < 400, "an error is short")
        }
        return claims.violated
    }

    /// The steps run in their order, whatever the events.
    private static func play(_ script: FaultScript, _ seed: UInt8, _ claims: inout Claims) {
        var run = FaultScriptRun()
        var now = Timestamp(millisecondsSinceEpoch: 0)
        run.play(script, now: now)
        for round in 0..<64 {
            let former = run.place
            now = now + .milliseconds(Int(seed) * round)
            switch (Int(seed) + round) % 4 {
            case 0: _ = run.requestCame(method: "GET", path: ["api"], now: now)
            case 1: run.messageTaken(for: "i", now: now)
            case 2:
                if run.takeDeed(now: now) != nil { run.began(run.place) }
            default: run.ended(run.place, now: now)
            }
            claims.require(run.place.step >= former.step && run.place.step <= script.steps.count, "steps go on")
            let states = script.steps.indices.map { run.state(of: $0) }
            claims.require(states.prefix(run.place.step).allSatisfy { $0 == .done }, "what is past is done")
            claims.require(states.dropFirst(run.place.step + 1).allSatisfy { $0 == .waiting }, "what follows waits")
        }
    }
}
