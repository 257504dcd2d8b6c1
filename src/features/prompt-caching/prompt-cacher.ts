import { toBase64Url } from '../../lib/bytes.ts'
import { createExpiringMap } from '../../lib/maps.ts'
import type { Store } from '../../records/store.ts'
import type { Codec } from '../../request/codec/codec.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import type { CacheExplanation } from '../../request/routing/explanation.ts'
import type { Encode, RouteIterator } from '../../request/steps.ts'
import type { CachingPause, ColdSession } from '../../types/caching-types.ts'
import type { Clock, Logger } from '../../types.ts'
import { type CachedAttempt, CachedCall, type CacheMemory, type ExplainedAttempt } from './cached-call.ts'
import { KnownPrompts } from './known-prompts.ts'
import { createPauses } from './pauses.ts'
import { SessionShares } from './session-shares.ts'
import { SessionTargets } from './session-targets.ts'

export interface PromptCacherDependencies {
  store: Pick<Store, 'keyring'>
  clock: Clock
  logger: Logger | undefined
}

const REJECTION_TTL_MS = 60 * 60_000
const MAX_TARGETS = 1_000

/** Makes providers cache a gateway's prompts. Keeps what it learns in memory. */
export class PromptCacher {
  readonly #memory: CacheMemory

  constructor({ store, clock, logger }: PromptCacherDependencies) {
    this.#memory = {
      sessions: new SessionTargets(clock),
      shares: new SessionShares(clock),
      pauses: createPauses({ clock, logger }),
      prompts: new KnownPrompts(clock),
      rejectingTargets: createExpiringMap<true>({ clock, ttlMs: REJECTION_TTL_MS, maxSize: MAX_TARGETS }),
      async createSessionKey(session, owner) {
        const keyring = await store.keyring()
        const hash = await keyring.hashForLookup(`prompt-caching\0${owner}\0${session}`) // the same in all instances
        return toBase64Url(hash).slice(0, 22)
      },
    }
  }

  /** Moves the target that last served the request's session to the front, if it is healthy. Otherwise, returns the same routes. */
  prefer(request: ModelRequest, routes: RouteIterator): RouteIterator {
    return this.#memory.sessions.prefer(request, routes)
  }

  /** Encodes an attempt's request with cache breakpoints where they pay off. `encode` may be called again without breakpoints. */
  encode(attempt: CachedAttempt, encode: Encode): Promise<Codec> {
    const call = new CachedCall(attempt, this.#memory)
    attempt.log.extendRecord((settled) => call.report(settled, attempt.catalog))
    return call.encode(encode)
  }

  /** Explains how `encode` would change the request, without changing any state. */
  explain(attempt: ExplainedAttempt, encode: Encode): Promise<CacheExplanation> {
    return new CachedCall(attempt, this.#memory).explain(encode)
  }

  /** Lists the callers and targets for which cache breakpoints are paused because they didn't pay off. */
  listPauses(): CachingPause[] {
    return this.#memory.pauses.list()
  }

  /** Lists the recent sessions that read less than 20% of their input from the cache. */
  listColdSessions(): ColdSession[] {
    return this.#memory.shares.listColdSessions()
  }
}
