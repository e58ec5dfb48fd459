import KiiPushCore

extension Scenario {
    /// A program for each message, and more concurrent messages than free descriptors.
    static func descriptors(messages: Int, programs: Int, files: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.concurrentHandlers = programs
        settings.startsPrograms = true
        settings.maximumFiles = files
        return Scenario(
            "descriptors", "a program is started for each message, more at once than files may be open",
            with: .agent(settings)
        ) { play in
            try await play.publish(
                (1...messages).map { ($0, Array("{\"n\":\($0),\"sender\":\"sender-\($0)\"}".utf8)) })
            try play.receiver.start()
            try await play.finish()
            let repeated = try InboxReading.countOfRepeated(state: play.bench.state)
            play.expect(repeated == 0, "\(repeated) messages had an attempt that failed")
            return "\(programs) at once, \(files) files"
        }
    }
}
