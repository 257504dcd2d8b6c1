import type { BuiltInFeature } from '../../feature.ts'
import { type CancelDeadline, startDeadline } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { InFlight } from '../../lib/in-flight.ts'
import type { KeyAccess } from '../../records/key-access.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { Clock } from '../../types.ts'

interface KeyWatchDependencies {
  store: {
    openedKeyAccess: Promise<Pick<KeyAccess, 'lookup'>>
    /** Whether the storage reports changes made by other instances. */
    isWatched: boolean
  }
  inFlight: InFlight
  clock: Clock
  limits: { storeMaxAgeMs: number }
}

/**
 * Ends a key's in-flight requests when the key or its group is paused or deleted on any instance. If the storage has `watch`, they end immediately;
 * otherwise, when the keys are reread every `maxAgeMs`. While storage can't be read, they continue.
 */
export function createKeyWatch({ store, inFlight, clock, limits }: KeyWatchDependencies): BuiltInFeature {
  const { openedKeyAccess, isWatched } = store
  const maxAgeMs = limits.storeMaxAgeMs
  let isClosed = false
  let cancelScheduledCheck: CancelDeadline | undefined

  const listKeyRequests = (digest: string) => inFlight.values().filter(({ caller }) => caller.key?.digest === digest)

  async function checkKey(digest: string): Promise<void> {
    if (listKeyRequests(digest).length === 0) return
    const { lookup } = await openedKeyAccess
    const rejection = await lookup.findRejection(digest).catch(() => undefined) // the last known state applies while the storage is unavailable
    if (rejection) for (const request of listKeyRequests(digest)) request.cancel(rejection)
  }

  function scheduleCheck(): void {
    cancelScheduledCheck ??= startDeadline(clock, maxAgeMs, () => {
      cancelScheduledCheck = undefined
      const digests = new Set(inFlight.values().flatMap(({ caller }) => caller.key?.digest ?? []))
      void Promise.all([...digests].map(checkKey))
      if (digests.size > 0 && !isClosed) scheduleCheck()
    })
  }

  void openedKeyAccess.then(({ lookup }) => {
    lookup.onChange((digest) => void checkKey(digest))
    lookup.onGroupChange((id) => {
      const groupRequests = inFlight.values().filter(({ caller }) => caller.key?.group?.id === id)
      for (const digest of new Set(groupRequests.flatMap(({ caller }) => caller.key?.digest ?? [])))
        void checkKey(digest)
    })
  })

  return {
    name: 'key-watch',
    ...(!isWatched && {
      aroundRequest({ key }: RouteRequest, next: () => Promise<Reply>) {
        if (key && !isClosed) scheduleCheck()
        return next()
      },
    }),
    close() {
      isClosed = true
      cancelScheduledCheck?.()
    },
  }
}
