import KiiPushCore
import Testing

@Suite struct ClockWatchTests {
    /// The seconds since the first reading, on each clock.
    private func look(
        _ watch: inout ClockWatch, _ monotonic: Double, _ sinceBoot: Double, _ calendar: Double
    ) -> ClockJump? {
        watch.look(
            ClockReading(
                monotonic: .seconds(100 + monotonic), sinceBoot: .seconds(900 + sinceBoot),
                calendar: .seconds(1_700_000_000 + calendar)))
    }

    private func watch() -> ClockWatch {
        var watch = ClockWatch()
        #expect(self.look(&watch, 0, 0, 0) == nil)
        return watch
    }

    @Test func clocksThatRunTogetherAreNothing() {
        var watch = self.watch()
        for second in stride(from: 0.5, to: 100_000, by: 977) {
            #expect(self.look(&watch, second, second, second) == nil)
        }
    }

    @Test func theTimeAsleepIsThatOfTheClockThatCountsIt() {
        var watch = self.watch()
        #expect(self.look(&watch, 10, 3610, 3610) == ClockJump(slept: .seconds(3600)))
        #expect(self.look(&watch, 20, 3620, 3620) == nil)
        #expect(self.look(&watch, 21, 3624, 3624) == ClockJump(slept: .seconds(3)))
    }

    @Test(arguments: [86_400, -86_400, 50 * 365 * 86_400, 2, -2] as [Double])
    func aCalendarThatIsSetIsNoSleep(step: Double) {
        var watch = self.watch()
        #expect(self.look(&watch, 10, 10, 10 + step) == ClockJump(calendarMoved: .seconds(step)))
        #expect(self.look(&watch, 20, 20, 20 + step) == nil)
        #expect(self.look(&watch, 30, 30, 30) == ClockJump(calendarMoved: .seconds(-step)))
    }

    @Test func bothAtOnceAreTwoThings() {
        var watch = self.watch()
        let jump = ClockJump(slept: .seconds(600), calendarMoved: .seconds(-30))
        #expect(self.look(&watch, 10, 610, 580) == jump)
    }

    @Test func aLeapSecondIsNothingAndStepsAddUp() {
        var watch = self.watch()
        #expect(self.look(&watch, 10, 10, 9) == nil)
        #expect(self.look(&watch, 20, 20, 18) == ClockJump(calendarMoved: .seconds(-2)))
        #expect(self.look(&watch, 30, 31.5, 29.5) == nil)
    }

    @Test func readingsThatFailedChangeNothing() {
        var watch = ClockWatch()
        #expect(watch.look(nil) == nil)
        #expect(self.look(&watch, 0, 0, 0) == nil)
        #expect(watch.look(nil) == nil)
        #expect(self.look(&watch, 10, 70, 70) == ClockJump(slept: .seconds(60)))
    }

    @Test func theMachinesOwnClocksRunTogether() {
        var watch = ClockWatch()
        // A reading may fail if the thread was suspended. No reading may show a jump.
        let readings = (0..<1000).compactMap { _ in ClockReading.now() }
        #expect(readings.count > 1)
        for reading in readings { #expect(watch.look(reading) == nil) }
    }
}
