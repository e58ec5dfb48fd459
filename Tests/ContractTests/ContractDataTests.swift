import Contract
import Foundation
import KiiPushCore
import Testing

@Suite struct ContractDataTests {
    private let contract: Contract

    init() throws {
        self.contract = try Contract.load()
    }

    @Test func everyCallAndErrorHasANameOfItsOwn() {
        #expect(self.contract.endpoints.count > 30)
        #expect(Set(self.contract.endpoints.map { $0.id }).count == self.contract.endpoints.count)
        #expect(self.contract.errors.count > 40)
        #expect(Set(self.contract.errors.map { $0.code }).count == self.contract.errors.count)
        let labels = self.contract.choices.flatMap { $0.paths.map { $0.label } }
        #expect(Set(labels).count == labels.count)
    }

    @Test func everythingThatIsNamedIsThere() {
        let labels = Set(self.contract.choices.flatMap { $0.paths.map { $0.label } })
        for endpoint in self.contract.endpoints {
            for error in endpoint.errors {
                #expect(self.contract.error(error.code) != nil, "\(endpoint.id) \(error.code)")
                #expect(Set(error.labels).isSubset(of: labels), "\(endpoint.id) \(error.code)")
            }
            for variant in self.contract.variants(of: endpoint) {
                for name in variant.parameterNames {
                    #expect(self.contract.sample(of: name) != nil, "\(endpoint.id) {\(name)}")
                }
            }
            #expect(!endpoint.replies.isEmpty, "\(endpoint.id)")
            #expect(endpoint.withoutClient == nil || endpoint.client.isEmpty, "\(endpoint.id)")
            #expect(!endpoint.client.isEmpty || !endpoint.bindsClient, "\(endpoint.id) has no client and no reason")
        }
    }

    @Test func samplesFollowTheRulesOfTheirMembers() {
        for endpoint in self.contract.endpoints {
            let request = endpoint.request
            guard let sample = request.sample else {
                #expect(request.members.isEmpty, "\(endpoint.id) has no sample")
                continue
            }
            for member in request.members {
                let value = sample[member.name]
                #expect(value != nil || !member.isRequired, "\(endpoint.id) \(member.name)")
                if let value {
                    #expect(member.types.contains(value.typeName), "\(endpoint.id) \(member.name)")
                }
            }
            let known = Set(request.members.map { $0.name })
            let unknown = (sample.members ?? []).map { $0.key }.filter { !known.contains($0) }
            #expect(unknown.isEmpty || request.open != nil, "\(endpoint.id) \(unknown)")
        }
    }

    @Test func samplesNameKindsThatThereAre() throws {
        let file = Contract.documentation.deletingLastPathComponent()
            .appending(path: "Sources/KiiPushEmulator/Cloud/Push/LoggedMessage.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let samples = self.contract.endpoints.flatMap { $0.replies }.compactMap { $0.sample }
        let kinds = samples.compactMap { $0["kind"] ?? $0["messages"]?.array?.first?["kind"] }
        #expect(kinds.count == 2)
        for kind in kinds { #expect(source.contains(" = \(kind.text)"), "\(kind.text)") }
    }

    /// Every code that the library names is in the error table, with the status that the docstring names.
    @Test func theCodesOfTheLibraryAreInTheTable() throws {
        let file = Contract.documentation.deletingLastPathComponent()
            .appending(path: "Sources/KiiPushCore/Cloud/KiiErrorCode.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let constant = /\/\/\/ ([0-9]{3}): .*\n(?: *\/\/\/ .*\n)* *(?:public|package) static let .*"([A-Za-z0-9_]+)"/
        let codes = Set(source.matches(of: constant).map { "\($0.output.1) \($0.output.2)" })
        #expect(codes.count == source.components(separatedBy: "static let").count - 1)
        #expect(codes.subtracting(self.contract.errors.map { "\($0.status) \($0.code)" }) == [])
    }

    /// The error table has the codes of the emulator's cloud. The page of the emulator documents the codes of the
    /// inspector.
    @Test func theTableHasEveryCodeOfTheEmulator() throws {
        let folder = Contract.documentation.deletingLastPathComponent().appending(path: "Sources/KiiPushEmulator")
        let known = Set(self.contract.errors.map { $0.code })
        let page = Contract.documentation.appending(path: "emulator.md")
        let document = try String(contentsOf: page, encoding: .utf8)
        var seen: Set<String> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let written = /(?:KiiFailure\(\s*\d+, |\b(?:principal|access|object)\((?:\d+, )?\s*)"([A-Za-z0-9_]+)"/
            for match in source.matches(of: written) {
                let code = String(match.output.1)
                let isOfPage = name.hasPrefix("Inspector/")
                #expect(known.contains(code) || isOfPage && document.contains("`\(code)`"), "\(name) \(code)")
                seen.insert(String(match.output.1))
            }
        }
        // The emulator returns the remaining codes only because of a fault.
        #expect(known.subtracting(seen).count < 20, "\(known.subtracting(seen).sorted())")
    }
}

extension JSONValue {
    fileprivate var typeName: String {
        switch self.kind {
        case .null: "null"
        case .bool: "boolean"
        case .number: self.int64 == nil ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
