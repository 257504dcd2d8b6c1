import type { Storage, Stored } from '../../../src/index.ts'

/**
 * Creates a store without `watch` over a network that counts round trips when they end. The operations of a round trip end together, once the process
 * has been idle for a while, so a slow machine doesn't add any.
 */
export function farStorage(storage: Storage) {
  const counted = { trips: 0, operations: [] as string[] }
  const waiting: Array<() => void> = []
  let isEnding = false
  async function endTrip() {
    isEnding = true
    let known = 0
    for (let idle = 0, turns = 0; idle < 4 && turns < 60; turns++) {
      const startedAt = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 5))
      await crypto.subtle.digest('SHA-256', new Uint8Array(1)) // waits for pending cryptography
      const isIdle = counted.operations.length === known && performance.now() - startedAt < 12
      idle = isIdle ? idle + 1 : 0
      known = counted.operations.length
    }
    isEnding = false
    counted.trips++
    for (const end of waiting.splice(0)) end()
  }
  const onTrip =
    <Args extends [string, ...unknown[]], Result>(action: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      counted.operations.push(args[0])
      if (!isEnding) void endTrip()
      await new Promise<void>((resolve) => void waiting.push(resolve))
      return action(...args)
    }
  const { watch, increment, ...rest } = storage
  const far: Storage = {
    ...rest,
    get: onTrip(storage.get),
    list: onTrip(storage.list),
    set: onTrip(storage.set),
    delete: onTrip(storage.delete),
  }
  return { counted, far, withLinks: { ...far, getLinked: onTrip((key: string) => getLinked(storage, key)) } }
}

/** Implements `Storage.getLinked` on other operations, with the fewest entries that the contract allows. */
export async function getLinked(storage: Storage, key: string): Promise<Array<Stored & { key: string }>> {
  const first = await storage.get(key)
  const links = first?.value.split('\n', 32) ?? []
  const linked = await Promise.all(links.map(async (link) => ({ key: link, stored: await storage.get(link) })))
  return [{ key, stored: first }, ...linked].flatMap(({ key, stored }) => (stored ? { key, ...stored } : []))
}
