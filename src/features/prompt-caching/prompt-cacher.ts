import { toBase64Url } from '../../lib/bytes.ts'
import { createExpiringMap } from '../../lib/maps.ts'
import type { Store } from '../../records/store.ts'
import type { PromptCacher } from '../../request/prompt-caching.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import { CachedCall, type CacheMemory } from './cached-call.ts'
import { KnownPrompts } from './known-prompts.ts'
import { createPauses } from './pauses.ts'
import { SessionShares } from './session-shares.ts'
import { SessionTargets } from './session-targets.ts'

interface PromptCacherDependencies {
  store: Pick<Store, 'keyring'>
  catalog: Catalog
  clock: Clock
  logger: Logger | undefined
}

const REJECTING_MS = 60 * 60_000
const MAX_TARGETS = 1_000

/** Creates the prompt cacher of a gateway. Everything that it learns stays in memory. */
export function createPromptCacher({ store, catalog, clock, logger }: PromptCacherDependencies): PromptCacher {
  const sessions = new SessionTargets(clock)
  const memory: CacheMemory = {
    catalog,
    sessions,
    shares: new SessionShares(clock),
    pauses: createPauses({ clock, logger }),
    prompts: new KnownPrompts(clock),
    rejecting: createExpiringMap<true>({ clock, ttlMs: REJECTING_MS, max: MAX_TARGETS }),
    async createSessionKey(session, owner) {
      const keyring = await store.keyring()
      const hash = await keyring.hashForLookup(`prompt-caching\0${owner}\0${session}`) // the same in all instances
      return toBase64Url(hash).slice(0, 22)
    },
  }
  return {
    explain: (attempt, encode) => new CachedCall(attempt, memory).explain(encode),
    listPauses: () => memory.pauses.list(),
    listColdSessions: () => memory.shares.listCold(),
    prefer: (request, routes) => sessions.prefer(request, routes),
    encode(attempt, encode) {
      const call = new CachedCall(attempt, memory)
      attempt.log.reportCache = (settled) => call.report(settled)
      return call.encode(encode)
    },
  }
}
