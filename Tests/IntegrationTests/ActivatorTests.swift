import Foundation
import Glibc
import KiiPushActivation
import KiiPushCore
import TestSupport
import Testing

@Suite struct ActivatorTests {
    private typealias Kind = MessageEvent.Kind

    private static func isOutcome(_ kind: Kind) -> Bool {
        switch kind {
        case .done, .dead, .failed: true
        default: false
        }
    }

    private func outcome(
        of configuration: Activator.Configuration, deadline: Duration = .seconds(600)
    ) async throws -> Kind? {
        let outcome = Locked<Kind?>(nil)
        try await withActivationStage(deadline: deadline) { stage in
            try await stage.play(configuration) { events, _ in
                let kept = try await stage.broker.bring([.message(1, packetID: 1)])
                let kind = await ActivationStage.happens(in: events, Self.isOutcome)
                outcome.withLock { $0 = kind }
                withExtendedLifetime(kept) {}
            }
        }
        return outcome.withLock { $0 }
    }

    @Test(arguments: [
        ("exit 0", Kind.done(.newData, attempt: 1, isLate: false)),
        ("exit 10", .done(.noData, attempt: 1, isLate: false)),
        ("exit 65", .dead(.rejected("the program refused it (exit status 65)"), attempt: 1)),
        ("exit 75", .failed(attempt: 1, .failed, retryAfter: .milliseconds(1))),
        (
            "exit 3",
            .failed(
                attempt: 1, .threw("the program ended without an answer: exit status 3"), retryAfter: .milliseconds(1))
        ),
        (
            "kill -9 $$",
            .failed(
                attempt: 1, .threw("the program ended without an answer: signal 9"), retryAfter: .milliseconds(1))
        ),
        // Lines that are no answers do not count. The remaining `sleep` does not hold the outcome up.
        (
            #"echo nonsense >&3; head -c 100000 /dev/zero >&3; sleep 1 & exit 10"#,
            .done(.noData, attempt: 1, isLate: false)
        ),
        ("cat /dev/zero >&3; exit 10", .done(.noData, attempt: 1, isLate: false)),
        (#"printf '{"id":1,"result":"noData"}\n' >&3; cat <&3"#, .done(.noData, attempt: 1, isLate: false)),
        (#"printf '{"id":1,"result":"reject","reason":"no"}\n' >&3; exit 0"#, .dead(.rejected("no"), attempt: 1)),
        // Closing the descriptor is no answer; the exit status is.
        ("exec 3>&-; exit 10", .done(.noData, attempt: 1, isLate: false)),
    ])
    private func whatAProgramSaysIsTheVerdict(script: String, expected: Kind) async throws {
        #expect(try await self.outcome(of: ActivationStage.shell(script)) == expected)
    }

    @Test func aProgramReadsItsMessageFromTheDescriptor() async throws {
        let script = """
            read -r line <&"$KII_PUSH_LAUNCH_FD"
            [[ $line == '{"id":1,"attempt":1,"deadlineMs":'*',"userOpened":false,"installation":"'* ]] || exit 65
            [[ $line == *',"payload":"{\\"n\\":1}"}' ]] && exit 10
            exit 65
            """
        #expect(try await self.outcome(of: ActivationStage.shell(script)) == .done(.noData, attempt: 1, isLate: false))
    }

    @Test func aProgramReadsThePayloadFromStandardInput() async throws {
        let script =
            #"[[ -z $KII_PUSH_LAUNCH_FD && $(cat) == '{"n":1}' && $(cat /dev/stdin) == '{"n":1}' ]] && exit 10"#
        let configuration = ActivationStage.shell(script) { $0.input = .standardInput }
        #expect(try await self.outcome(of: configuration) == .done(.noData, attempt: 1, isLate: false))
    }

    @Test(arguments: [
        ("/nowhere/program", "No such file or directory; name it with its whole path, or install it"),
        (
            "/etc/passwd",
            "Permission denied; make it executable (chmod +x), and a script begin with #! and its interpreter"
        ),
    ])
    func aProgramThatCannotBeStartedFailsTheAttempt(program: String, reason: String) async throws {
        let configuration = Activator.Configuration(command: [program])
        let expected = Kind.failed(
            attempt: 1, .threw("cannot start \(program): \(reason)"), retryAfter: .milliseconds(1))
        #expect(try await self.outcome(of: configuration) == expected)
    }

    @Test(arguments: ["exec sleep 1000", "exec 3>&-; exec sleep 1000", "trap '' TERM; while :; do sleep 1; done"])
    func aProgramThatNeverAnswersIsEndedAndStartedAgain(script: String) async throws {
        try await withActivationStage(deadline: .seconds(1)) { stage in
            let configuration = ActivationStage.shell(script) { $0.terminationGrace = .milliseconds(100) }
            try await stage.play(configuration) { events, report in
                let kept = try await stage.broker.bring([.message(1, packetID: 1)])
                let first = await report.nextStart()
                #expect(await ActivationStage.happens(in: events, Self.isOutcome) != nil)
                let second = await report.nextStart()
                #expect(first != second)
                // The activator has reaped the first process, so no zombie is left.
                #expect(first.map { kill($0, 0) } == -1)
                withExtendedLifetime(kept) {}
            }
        }
    }

    /// Such a program wants no more messages, and goes on with other work.
    @Test(.timeLimit(.minutes(1))) func aProgramThatHasClosedItsEndIsSentNothingMore() async throws {
        try await withActivationStage { stage in
            let (closed, end) = ("\(stage.directory)/closed", "\(stage.directory)/end")
            for path in [closed, end] { try #require(mkfifo(path, 0o600) == 0) }
            // Opening a pipe waits for the other side, so the pipes synchronise the script and the test.
            let script = """
                read -r line <&3
                [[ $line == '{"id":1,'* ]] || exit 10
                printf '{"id":1,"result":"newData"}\\n' >&3
                exec 3>&-
                : > '\(closed)'
                read -r line < '\(end)'
                exit 3
                """
            try await stage.play(ActivationStage.shell(script)) { events, report in
                let kept = try await stage.broker.bring([.message(1, packetID: 1)])
                let first = await report.nextStart()
                #expect(
                    await ActivationStage.happens(in: events, Self.isOutcome)
                        == .done(.newData, attempt: 1, isLate: false))
                _ = try await onThread { close(open(closed, O_RDONLY | O_CLOEXEC)) }
                try await stage.broker.play { _ in try kept.send(.message(2, packetID: 2)) }
                let begun = await ActivationStage.happens(2, in: events) {
                    if case .started = $0 { true } else { false }
                }
                #expect(begun != nil)
                _ = try await onThread { close(open(end, O_WRONLY | O_CLOEXEC)) }
                #expect(await report.nextStart() != first)
                #expect(
                    await ActivationStage.happens(2, in: events, Self.isOutcome)
                        == .done(.noData, attempt: 1, isLate: false))
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func messagesGoToTheRunningProgramOneAfterTheOther() async throws {
        let script = """
            for number in 1 2 3; do
                read -r line <&3
                [[ $line == '{"id":'$number','* ]] || exit 65
                printf '{"id":%d,"result":"newData"}\\n' $number >&3
            done
            read -r line <&3
            """
        try await withActivationStage { stage in
            try await stage.play(ActivationStage.shell(script)) { events, report in
                let kept = try await stage.broker.bring((1...3).map { .message($0, packetID: UInt16($0)) })
                #expect(
                    await ActivationStage.happens(3, in: events, Self.isOutcome)
                        == .done(.newData, attempt: 1, isLate: false))
                #expect(await report.nextStart() != nil)
                withExtendedLifetime(kept) {}
            }
            let ledger = try await stage.runtime.ledger()
            #expect(ledger.done == 3)
        }
    }

    @Test func whatWasLeftRunningIsEndedBeforeTheProgramIsStartedAgain() async throws {
        try await withActivationStage { stage in
            // An orphan, as of an agent that was killed before its program ended.
            var launch = ChildProcess.Launch(["/bin/sleep", "1000"])
            launch.environment = [:]
            let left = try ChildProcess(launch)
            let stat = try String(contentsOfFile: "/proc/\(left.processID)/stat", encoding: .utf8)
            let startTime = try #require(stat.split(separator: ")").last?.split(separator: " ").dropFirst(19).first)
            let file = "\(stage.directory)/process"
            let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            try PrivateFile.replace(file, with: Array("\(left.processID) \(startTime) \(boot)".utf8))
            async let ending = onThread { left.wait() }
            try await stage.play(ActivationStage.shell("exit 0") { $0.processFile = file }) { events, report in
                let kept = try await stage.broker.bring([.message(1, packetID: 1)])
                #expect(
                    await report.next { if case .leftoverEnded(let processID) = $0 { processID } else { nil } }
                        == left.processID)
                #expect(await report.nextStart() != nil)
                #expect(
                    await ActivationStage.happens(in: events, Self.isOutcome)
                        == .done(.newData, attempt: 1, isLate: false))
                withExtendedLifetime(kept) {}
            }
            #expect(try await ending == .signalled(SIGTERM))
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func aProcessFileOfAnotherProcessEndsNobody() async throws {
        try await withActivationStage { stage in
            let file = "\(stage.directory)/process"
            // The file names this process with another start time.
            let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            try PrivateFile.replace(file, with: Array("\(getpid()) 1 \(boot)".utf8))
            try await stage.play(ActivationStage.shell("exit 0") { $0.processFile = file }) { events, _ in
                let kept = try await stage.broker.bring([.message(1, packetID: 1)])
                #expect(
                    await ActivationStage.happens(in: events, Self.isOutcome)
                        == .done(.newData, attempt: 1, isLate: false))
                withExtendedLifetime(kept) {}
            }
        }
    }
}
