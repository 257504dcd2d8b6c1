import type { Storage, Stored } from '../../../src/index.ts'

/**
 * Creates a store without `watch` over a network that counts round trips. The operations of a round trip end together, once no other operation has
 * started for a while.
 */
export function farStorage(storage: Storage) {
  const counted = { trips: 0, operations: [] as string[] }
  const waiting: Array<() => void> = []
  let ended = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  async function endTrip() {
    const started = counted.operations.length
    for (let turn = 0; turn < 4; turn++) await crypto.subtle.digest('SHA-256', new Uint8Array(1)) // lets pending cryptography finish
    if (counted.operations.length > started) return // its timer ends this round trip
    ended++
    for (const end of waiting.splice(0)) end()
  }
  const onTrip =
    <Args extends [string, ...unknown[]], Result>(action: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      counted.operations.push(args[0])
      counted.trips = ended + 1
      clearTimeout(timer)
      timer = setTimeout(endTrip, QUIET_MS)
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

const QUIET_MS = 25

/** Implements `Storage.getLinked` on other operations, with the fewest entries that the contract allows. */
async function getLinked(storage: Storage, key: string): Promise<Array<Stored & { key: string }>> {
  const first = await storage.get(key)
  const links = first?.value.split('\n', 32) ?? []
  const linked = await Promise.all(links.map(async (link) => ({ key: link, stored: await storage.get(link) })))
  return [{ key, stored: first }, ...linked].flatMap(({ key, stored }) => (stored ? { key, ...stored } : []))
}
