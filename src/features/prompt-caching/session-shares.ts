import { evictOldest } from '../../lib/maps.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { ColdSession } from '../../types/caching-types.ts'
import type { Clock } from '../../types.ts'

const MAX_SESSIONS = 10_000
const MAX_LISTED = 20
/**
 * How many requests to ignore at the start of a session. The first can't read anything from the cache, and the second can read only what the first
 * wrote.
 */
const WARMUP_REQUESTS = 2
const COLD_SHARE = 0.2
const MAX_AGE_MS = 60 * 60_000

interface CountedSession extends Omit<ColdSession, 'readShare' | 'lastUsedAt'> {
  input: number
  read: number
  at: number
}

/** Counts, in memory, how much of each session's input is read from the cache. */
export class SessionShares {
  readonly #clock: Pick<Clock, 'now'>
  readonly #sessions = new Map<string, CountedSession>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Counts a session's request. */
  record(
    key: string,
    { input, read }: { input: number; read: number },
    subject: { caller: string; target: RouteTarget },
  ): void {
    const { connection, provider, model } = subject.target
    const { requests, ...previous } = this.#sessions.get(key) ?? { requests: 0, input: 0, read: 0 }
    const isCounted = requests >= WARMUP_REQUESTS
    if (!this.#sessions.delete(key)) evictOldest(this.#sessions, MAX_SESSIONS)
    this.#sessions.set(key, {
      ...{ caller: subject.caller, connectionId: connection.id, provider, model },
      requests: requests + 1,
      input: previous.input + (isCounted ? input : 0),
      read: previous.read + (isCounted ? read : 0),
      at: this.#clock.now(), // moves the latest use to the end
    })
  }

  /** Lists sessions from the last hour that read less than 20% of their input from the cache, lowest shares first. */
  listColdSessions(): ColdSession[] {
    const cutoff = this.#clock.now() - MAX_AGE_MS
    return [...this.#sessions.values()]
      .filter(({ input, read, at }) => at > cutoff && input > 0 && read < input * COLD_SHARE)
      .sort((a, b) => a.read / a.input - b.read / b.input || b.input - a.input)
      .slice(0, MAX_LISTED)
      .map(({ input, read, at, ...session }) => ({
        ...session,
        readShare: read / input,
        lastUsedAt: new Date(at).toISOString(),
      }))
  }
}
