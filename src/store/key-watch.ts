import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { Clock } from '../types.ts'
import type { Keyring } from './keyring.ts'

/** The watch over the keys of requests under way. */
export interface KeyWatch {
  /** Must be called when a request with a key begins. */
  begun(): void
  close(): void
}

/**
 * Ends the requests under way of a key that is paused or deleted, here or elsewhere: at once when a storage with `watch` reports the change;
 * with any other storage their keys are read again every `maxAgeMs`. While the storage cannot be read, the requests go on.
 */
export function createKeyWatch(deps: {
  keyring: Pick<Keyring, 'refusalOf' | 'onChange'>
  inFlight: InFlight
  clock: Clock
  maxAgeMs: number
  /** Does the storage report changes of others? */
  isWatched: boolean
}): KeyWatch {
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
    begun() {
      if (!isWatched && !isClosed) lookLater()
    },
    close() {
      isClosed = true
      cancelLook?.()
    },
  }
}
