import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { Clock } from '../types.ts'
import type { Keyring } from './keyring.ts'

/**
 * Ends the requests under way of a key that is paused or deleted, here or elsewhere. What a storage with `watch` reports is acted on at
 * once; with any other storage the keys of requests under way are read again every `maxAgeMs`. While the storage cannot be read, they go on.
 */
export function createKeyWatch(deps: {
  keyring: Pick<Keyring, 'refusalOf' | 'onChange'>
  inFlight: InFlight
  clock: Clock
  maxAgeMs: number
  /** Does the storage report changes of others? */
  isWatched: boolean
}): { begun(): void; close(): void } {
  const { keyring, inFlight, clock, maxAgeMs, isWatched } = deps
  let isClosed = false
  let cancelLook: CancelDeadline | undefined

  const workOf = (digest: string) => inFlight.values().filter(({ keyDigest }) => keyDigest === digest)

  async function check(digest: string): Promise<void> {
    if (workOf(digest).length === 0) return
    const refusal = await keyring.refusalOf(digest).catch(() => undefined) // what was read stays in force while the storage is away
    if (refusal) for (const work of workOf(digest)) work.cancel(refusal)
  }

  function lookLater(): void {
    cancelLook ??= startDeadline(clock, maxAgeMs, () => {
      cancelLook = undefined
      const digests = new Set(inFlight.values().flatMap(({ keyDigest }) => keyDigest ?? []))
      void Promise.all([...digests].map(check))
      if (digests.size > 0 && !isClosed) lookLater()
    })
  }

  keyring.onChange((digest) => void check(digest))

  return {
    /** A request with a key has begun. */
    begun() {
      if (!isWatched && !isClosed) lookLater()
    },
    close() {
      isClosed = true
      cancelLook?.()
    },
  }
}
