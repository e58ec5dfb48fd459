import KiiPushCore
import TestSupport

extension Scenario {
    /// The agent acknowledges no message that it could not store.
    static func disk(messages: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        // The handlers are slow, so that more messages wait than the disk has room for.
        settings.slow = (every: 1, milliseconds: 20)
        var setup = FaultBench.Setup()
        setup.disk = .small(megabytes: 24)
        return Scenario("disk", "others fill the disk, then they do not", with: .agent(settings), on: setup) { play in
            guard let agent = play.receiver as? AgentReceiver else { throw FaultError("this is for our agent") }
            guard FaultBench.canMount else { throw LeftOut.onlyRootMounts }
            try agent.start()
            try await play.beginSession()
            try play.bench.fillDisk()
            try await play.publish(1...messages, padding: 8000)
            let bench = play.bench
            let isFull = try await play.observation.wait { _ in
                // The test also fills the space that the agent frees to continue.
                try bench.fillDisk()
                return agent.told.contains { $0.hasPrefix("not storing") }
            }
            play.expect(isFull, "the disk did not fill up")
            play.expect(
                agent.told.contains { $0.contains("free some space") }, "nothing says that there is no space")
            let acknowledged = play.traffic.acknowledged.count
            play.expect(acknowledged < messages, "everything was acknowledged")
            try play.bench.freeDisk()
            try await play.finish()
            play.expect(agent.told.contains("storing again"), "nothing says that there is space again")
            return "full after \(acknowledged)"
        }
    }

    /// A disk with only the agent's state. Without cleaning up, handled messages would fill it many times over.
    static func smallDisk(megabytes: Int, messages: Int, padding: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.work = WorkTime(microseconds: 0...200)
        var setup = FaultBench.Setup()
        setup.disk = .small(megabytes: megabytes)
        return Scenario(
            "disk-\(megabytes)", "a disk of \(megabytes) MB that has room for few of the handled messages",
            with: .agent(settings), on: setup
        ) { play in
            guard let agent = play.receiver as? AgentReceiver else { throw FaultError("this is for our agent") }
            guard FaultBench.canMount else { throw LeftOut.onlyRootMounts }
            try agent.start()
            try await play.beginSession()
            // A read transaction prevents checkpoints, so the log grows until it fills the disk.
            var reader: SQLiteFile? = try SQLiteFile("\(play.bench.state)/inbox.sqlite", for: .reading)
            try reader?.execute("BEGIN")
            _ = try reader?.integer("SELECT count(*) FROM message")
            let burst = 150 * megabytes
            try await play.publish(1...burst, padding: 8000)
            let isFull = try await play.observation.wait { _ in agent.told.contains { $0.hasPrefix("not storing") } }
            play.expect(isFull, "the log did not fill the disk")
            // Takes the remaining space, as the results of enough handlers would.
            try play.bench.fillDisk()
            reader = nil
            try await play.waitForAll()
            try play.bench.freeDisk()
            for first in stride(from: burst + 1, through: burst + messages, by: 1000) {
                try await play.publish(first...min(burst + messages, first + 999), padding: padding)
                try await play.waitForAll()
            }
            // The capacity of the inbox must not depend on the number of starts.
            try await agent.kill()
            let told = agent.told.count
            try agent.start()
            try await play.publish(burst + messages + 1...burst + messages + 200, padding: padding)
            try await play.finish()
            // A burst may fill the disk for a moment.
            let isStoring = try await play.observation.wait { _ in
                let last = agent.told.dropFirst(told).last { $0.hasPrefix("not storing") || $0 == "storing again" }
                return last.map { $0 == "storing again" } ?? true
            }
            play.expect(isStoring, "messages could not be stored in the end")
            return "1 kill"
        }
    }
}
