import Contract
import KiiPushCore
import KiiPushEmulator
import SeededNumbers
import Testing

@Suite struct ContractRandomTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func noRequestBreaksTheCloud(seed: UInt64) async throws {
        let world = try ContractWorld(CloudInMemory())
        let people = try await world.people()
        var random = SeededGenerator(seed: seed)
        let variants = world.contract.variants
        // A disabled app, a request limit or a fault would refuse all later requests.
        let isHarmless: (Variant) -> Bool = {
            $0.endpoint.id != "control.changeApp" && $0.endpoint.id != "control.addFault"
        }
        for _ in 0..<1500 {
            guard let variant = variants.filter(isHarmless).randomElement(using: &random) else { continue }
            var request = try world.request(variant, people)
            if Bool.random(using: &random) { request.disturb(using: &random) }
            let methods = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", variant.endpoint.method]
            let method = methods.randomElement(using: &random)
            let answer = try await world.send(request, method: method)
            let comment: Comment = "\(method ?? "") \(request.incoming(to: world.cloud).target): \(answer.status)"
            #expect(answer.status < 500, comment)
            guard !(200..<300).contains(answer.status) else { continue }
            #expect(answer.status == answer.code.flatMap { world.contract.error($0)?.status }, comment)
            world.expectListed(answer, request, method: method ?? "", comment)
            #expect(answer.effects == EmulatedCloud.Effects(), comment)
        }
    }
}

extension ContractRequest {
    fileprivate mutating func disturb(using random: inout some RandomNumberGenerator) {
        let texts = [
            "", "me", "%", "%00", "a/b", "..", "\u{1F4A1}", "x", "UserID:ANY_AUTHENTICATED_USER", "VENDOR_THING_ID:",
        ]
        let values: [JSONValue] = [.null, true, 0, -1, 1.5e300, "", "text", [], [[]], [:], ["enabled": true]]
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            self.parameters[self.variant.parameterNames.randomElement(using: &random) ?? ""] = texts.randomElement(
                using: &random)
        case 1:
            self.query = "?\(texts.randomElement(using: &random) ?? "")=\(texts.randomElement(using: &random) ?? "")"
        case 2:
            self.credentials =
                [.none, .app, .administrator, .token(""), .token(self.people.admin)].randomElement(using: &random)
                ?? .none
        case 3:
            self.bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
        case 4: self.mediaType = texts.randomElement(using: &random)
        default:
            let name = (self.variant.endpoint.request.members.map { $0.name } + ["further"]).randomElement(
                using: &random)
            self.set([name ?? "": values.randomElement(using: &random) ?? .null])
        }
    }
}
