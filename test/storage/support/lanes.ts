/** Calls `action` with 0 to `count` - 1, with `lanes` calls running concurrently. */
export async function inLanes(lanes: number, count: number, action: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await action(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
