import Foundation
import KiiPushCore
import TestSupport
import Testing

/// The installations of messages, if the damage concerns the table of installations.
extension InboxSalvageTests {
    @Test func installationsAreReadFromTheirIndex() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        try fixture.damage(page: fixture.rootPage(of: "installation"))
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == before.count)
        #expect(try replacement.installation(id: "installation-1") == 1)
        // The inbox does not know which acknowledgements arrived, so it treats redeliveries as new messages.
        #expect(try replacement.unproven(installation: 1) == [])
    }

    /// `verify` must find such damage before an agent starts, even if no message is lost.
    @Test(arguments: ["installation", "sqlite_autoindex_installation_1", "installation_owner", "notice"])
    func damageOfWhatMessagesGoByIsFound(in name: String) throws {
        let fixture = try InboxFixture()
        _ = try self.fill(fixture)
        let page = try fixture.rootPage(of: name)
        let size = InboxFixture.pageSize
        try fixture.change { bytes in
            bytes.replaceSubrange((page - 1) * size..<page * size, with: Array(repeating: 0, count: size))
        }
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let reader = try Inbox(path: fixture.path, configuration: configuration)
        #expect(#expect(throws: InboxError.self) { try reader.verify() }?.kind == .corrupt)
    }

    @Test func whoseAnInstallationIsStaysKnown() throws {
        let fixture = try InboxFixture()
        _ = try self.fill(fixture)
        let owner = InboxOwner(site: "http://127.0.0.1:1/api", app: "app", principal: "user:1")
        do {
            let inbox = try fixture.open()
            try inbox.transaction { transaction throws(InboxError) in
                try transaction.set(owner, of: 1)
                try transaction.adopt(try transaction.installation(id: "installation-2"), by: 1)
            }
        }
        try fixture.damage(pageWith: "row-100150")
        _ = try self.replace(fixture)
        let columns = "id || ' ' || coalesce(site || app || principal, 'nobody') || ' ' || coalesce(adopter, 'itself')"
        let file = try SQLiteFile(fixture.path, for: .reading)
        let found = try file.texts("SELECT \(columns) FROM installation ORDER BY key")
        #expect(found == ["installation-1 http://127.0.0.1:1/apiappuser:1 itself", "installation-2 nobody 1"])
    }

    @Test func messagesOfAnUnknownInstallationReachNobodyElse() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        for name in ["installation", "sqlite_autoindex_installation_1"] {
            try fixture.damage(page: fixture.rootPage(of: name))
        }
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == before.count)
        let rows = try self.unfinished(replacement)
        #expect(rows.allSatisfy { $0.state == .dead && $0.reason?.hasPrefix("damaged inbox") == true })
        let key = try replacement.transaction { transaction throws(InboxError) in
            try transaction.installation(id: "installation-2")
        }
        #expect(rows.allSatisfy { $0.installation != key })
        #expect(try rows.allSatisfy { try replacement.installationID($0.installation) == nil })
    }

    @Test func anInstallationThatIsFoundUnderTwoKeysIsOne() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        try SQLiteFile(fixture.path, for: .changing).execute(
            "UPDATE message SET installation = 5 WHERE sequence = 13")
        // The table's only cell holds the record's length and then the key. The index still has key 1.
        let start = try (fixture.rootPage(of: "installation") - 1) * InboxFixture.pageSize
        try fixture.change { bytes in
            let cell = start + Int(bytes[start + 8]) << 8 + Int(bytes[start + 9])
            #expect(bytes[cell + 1] == 1)
            bytes[cell + 1] = 5
        }
        let replacement = try self.replace(fixture)
        #expect(try self.unfinished(replacement) == before)
        #expect(try replacement.installation(id: "installation-1") == 1)
        #expect(try replacement.installationID(5) == nil)
    }

    @Test func theKeyThatTheProcessKnowsAnInstallationByIsKept() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        let remembered = try self.remembered(fixture, [7: "installation-1"])
        let replacement = try self.replace(fixture, remembered)
        #expect(try replacement.installation(id: "installation-1") == 7)
        let after = try self.unfinished(replacement)
        #expect(after.count == before.count && after.allSatisfy { $0.installation == 7 })
    }
}
