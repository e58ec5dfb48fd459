import KiiPushCore
import Testing

/// What a row of closed connections is taken for: another receiver, a broker that kicks, or nothing in particular.
@Suite struct ClosurePatternTests {
    /// One thing that happened.
    private enum Happening {
        case closed(Duration, hadSession: Bool = true)
        case otherwise(Duration?)
        case paused(Duration)
    }

    /// Tells a pattern what happened and returns it, with the evidence if it was recognised.
    private func pattern(_ happenings: [Happening]) -> (kind: ClosurePattern.Kind, takeovers: [PushEvent.Takeover]) {
        var pattern = ClosurePattern()
        var takeovers: [PushEvent.Takeover] = []
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

    @Test func threeClosuresInARowAreAnotherReceiver() {
        let (kind, takeovers) = self.pattern([
            .closed(.seconds(7)), .paused(.seconds(2)), .closed(.seconds(1)), .paused(.seconds(3)),
            .closed(.seconds(20)),
        ])
        #expect(kind == .takenOver)
        #expect(takeovers.map(\.closures) == [3])
        #expect(takeovers.map(\.within) == [.seconds(33)])
        let words = takeovers.first?.description ?? ""
        #expect(words.contains("closed 3 connections within 33 s"))
        #expect(words.contains("receive as another user or thing"))
    }

    @Test func itIsSaidOnce() {
        let (kind, takeovers) = self.pattern((1...10).map { .closed(.seconds($0)) })
        #expect(kind == .takenOver)
        #expect(takeovers.count == 1)
    }

    @Test func twoClosuresAreNothing() {
        #expect(self.pattern([.closed(.seconds(7)), .closed(.seconds(1))]).kind == .unclear)
    }

    /// A broker that restarts refuses, or has lost its session, or does it hours apart.
    @Test func aBrokerThatRestartsIsNoReceiver() {
        let refusing = (1...9).flatMap { [Happening.closed(.seconds($0)), .otherwise(nil)] }
        #expect(self.pattern(refusing).kind == .unclear)
        let forgetting = (1...9).map { Happening.closed(.seconds($0), hadSession: $0 % 3 == 0) }
        #expect(self.pattern(forgetting).kind == .unclear)
        let rare = (1...9).map { Happening.closed(.seconds(601 + $0)) }
        #expect(self.pattern(rare).kind == .unclear)
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
        // A client that always waits 1 s before it takes over is no limit that anybody sets.
        #expect(self.pattern((1...3).map { _ in .closed(.seconds(1)) }).kind == .takenOver)
    }

    @Test func aBrokerThatClosesAtOnceKicks() {
        let (kind, takeovers) = self.pattern((1...4).map { .closed(.milliseconds(50 * $0)) })
        #expect(kind == .kicked(times: 4))
        #expect(takeovers.isEmpty)
        #expect(self.pattern([.closed(.zero), .closed(.zero)]).kind == .unclear)
        #expect(self.pattern([.closed(.zero), .closed(.zero), .otherwise(nil), .closed(.zero)]).kind == .unclear)
    }

    @Test func aClosureWithinAMomentIsNoEvidenceAgainstAnotherReceiver() {
        let closures: [Happening] = [.closed(.seconds(2)), .closed(.zero), .closed(.seconds(1)), .closed(.seconds(3))]
        #expect(self.pattern(closures).kind == .takenOver)
    }

    @Test func onlyALongConnectionEndsTheDispute() {
        let dispute: [Happening] = [.closed(.seconds(2)), .closed(.seconds(1)), .closed(.seconds(3))]
        #expect(self.pattern(dispute + [.closed(.seconds(600))]).kind == .takenOver)
        #expect(self.pattern(dispute + [.otherwise(nil), .closed(.seconds(40), hadSession: false)]).kind == .takenOver)
        #expect(self.pattern(dispute + [.closed(.seconds(601))]).kind == .unclear)
        #expect(self.pattern(dispute + [.otherwise(.seconds(601))]).kind == .unclear)
        #expect(self.pattern(dispute + [.closed(.seconds(601))] + dispute).takeovers.count == 2)
    }
}
