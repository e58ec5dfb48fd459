import KiiPushCore
import Testing

@Suite struct ClosurePatternTests {
    private enum Happening {
        case closed(Duration, hadSession: Bool = true)
        case otherwise(Duration?)
        case paused(Duration)
    }

    private func pattern(_ happenings: [Happening]) -> (kind: ClosurePattern.Kind, takeovers: [String]) {
        var pattern = ClosurePattern()
        var takeovers: [String] = []
        for happening in happenings {
            switch happening {
            case .closed(let lifetime, let hadSession):
                if let takeover = pattern.closed(after: lifetime, hadSession: hadSession) { takeovers.append(takeover) }
            case .otherwise(let lifetime): pattern.endedOtherwise(after: lifetime)
            case .paused(let pause): pattern.paused(pause)
            }
        }
        return (pattern.kind, takeovers)
    }

    private static let quick: [Happening] = (1...5).map { .closed(.seconds($0)) }

    @Test func fiveQuickClosuresInARowAreAnotherReceiver() {
        let (kind, takeovers) = self.pattern([
            .closed(.seconds(7)), .paused(.seconds(2)), .closed(.seconds(1)), .paused(.seconds(3)),
            .closed(.seconds(20)), .paused(.seconds(1)), .closed(.seconds(5)), .paused(.seconds(1)),
            .closed(.milliseconds(29_900)),
        ])
        #expect(kind == .takenOver)
        #expect(takeovers.count == 1)
        let words = takeovers.first ?? ""
        #expect(words.contains("closed 5 connections within 69 s"))
        #expect(words.contains("receive as another user or thing"))
    }

    @Test func itIsSaidOnce() {
        let (kind, takeovers) = self.pattern((1...10).map { .closed(.seconds($0)) })
        #expect(kind == .takenOver)
        #expect(takeovers.count == 1)
    }

    @Test func fourClosuresAreNothing() {
        #expect(self.pattern(Array(Self.quick.dropLast())).kind == .unclear)
    }

    /// A broker may restart, or a link may break, at any time and any number of times.
    @Test func aConnectionThatStoodIsNoEvidence() {
        let cuts = (0..<200).map { Happening.closed(.seconds(30 + $0 * 7 % 25)) }
        #expect(self.pattern(cuts).kind == .unclear)
        let between = Self.quick.dropLast() + [.closed(.seconds(30))] + Self.quick.dropLast()
        #expect(self.pattern(Array(between)).kind == .unclear)
    }

    /// A restarting broker refuses connections or has lost its session.
    @Test func aBrokerThatRestartsIsNoReceiver() {
        let refusing = (1...19).flatMap { [Happening.closed(.seconds($0)), .otherwise(nil)] }
        #expect(self.pattern(refusing).kind == .unclear)
        let forgetting = (1...19).map { Happening.closed(.seconds($0), hadSession: $0 % 5 != 0) }
        #expect(self.pattern(forgetting).kind == .unclear)
    }

    @Test func aBadNetworkIsNoReceiver() {
        let missing = (1...9).flatMap { [Happening.closed(.seconds($0)), .otherwise(.seconds(90))] }
        #expect(self.pattern(missing).kind == .unclear)
    }

    @Test func aTimeLimitOnTheWayIsNoReceiver() {
        let limit = (1...9).map { Happening.closed(.seconds(60) + .milliseconds(100 * $0)) }
        #expect(self.pattern(limit).kind == .timeLimit(.milliseconds(60_700)))
        #expect(self.pattern(Array(limit.prefix(2))).kind == .unclear)
        let long = (1...9).map { Happening.closed(.seconds(350 + $0 % 7)) }
        #expect(self.pattern(long).kind == .timeLimit(.seconds(350)))
        // A pause of 1 s is a client's pause before its takeover; no time limit is that short.
        #expect(self.pattern((1...5).map { _ in .closed(.seconds(1)) }).kind == .takenOver)
    }

    @Test func aBrokerThatClosesAtOnceKicks() {
        let (kind, takeovers) = self.pattern((1...4).map { .closed(.milliseconds(50 * $0)) })
        #expect(kind == .kicked(times: 4))
        #expect(takeovers.isEmpty)
        #expect(self.pattern([.closed(.zero), .closed(.zero)]).kind == .unclear)
        #expect(self.pattern([.closed(.zero), .closed(.zero), .otherwise(nil), .closed(.zero)]).kind == .unclear)
    }

    @Test func aClosureWithinAMomentIsNoEvidenceAgainstAnotherReceiver() {
        #expect(self.pattern(Self.quick.flatMap { [$0, .closed(.zero)] }.dropLast()).kind == .takenOver)
    }

    @Test func onlyAConnectionThatStoodEndsTheDispute() {
        #expect(self.pattern(Self.quick + [.closed(.seconds(29))]).kind == .takenOver)
        #expect(
            self.pattern(Self.quick + [.otherwise(nil), .closed(.seconds(20), hadSession: false)]).kind == .takenOver)
        #expect(self.pattern(Self.quick + [.closed(.seconds(30))]).kind == .unclear)
        #expect(self.pattern(Self.quick + [.otherwise(.seconds(30))]).kind == .unclear)
        #expect(self.pattern(Self.quick + [.closed(.seconds(30))] + Self.quick).takeovers.count == 2)
    }
}
