import Foundation
import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct EmulatorTests {
    @Test func deliversWhatIsSentToAnInstallation() async throws {
        var configuration = Emulator.Configuration()
        configuration.patience = .long
        let emulator = try await Emulator.start(configuration)
        let client = try EmulatorClient(emulator)
        let receiver = try await client.receiver()
        let mosquitto = Mosquitto(emulator: emulator, receiver: receiver)
        try await mosquitto.openSession()
        let admin = try await client.adminToken()
        for number in 1...3 {
            let answer = try await client.push(number, to: receiver, admin: admin)
            #expect(answer.status == 200)
            #expect(answer.json["pushMessageID"]?.string?.isEmpty == false)
        }
        let messages = try await mosquitto.receive(3)
        #expect(messages.map { $0["n"]?.int64 } == [1, 2, 3])
        #expect(messages.first?["sourceURI"]?.string == "kiicloud://users/\(receiver.userID)")
        await emulator.stop()
    }
}
