#if Postgres
import Testing

@testable import KiiPushPostgres

@Suite struct PostgresAddressTests {
    @Test(arguments: [
        "host=db.invalid ssl_min_protocol_version=''", "postgres://db.invalid/kii?ssl_min_protocol_version=",
    ])
    func anEmptyOldestTLSIsNotWhatAnySideTakes(address: String) throws {
        let additions = try PostgresAddress(address).additions
        #expect(additions.last { $0.0 == "ssl_min_protocol_version" }?.1 == "TLSv1.2", "\(additions)")
    }
}
#endif
