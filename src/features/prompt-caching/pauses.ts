import { evictOldest } from '../../lib/maps.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { CachingPause } from '../../types/caching-types.ts'
import type { Clock, Logger } from '../../types.ts'

const HOUR_MS = 60 * 60_000
const MIN_REQUESTS = 8
const MIN_WRITTEN = 50_000
const MAX_PAIRS = 10_000
const MAX_EVENTS = 1_000

interface Pair {
  /** Requests with breakpoints in the last hour. */
  events: Array<{ at: number; written: number; savedUsd: number }>
  /** No request gets breakpoints before this time. */
  pausedUntil: number
  stops: number
  /** The session that tests, after a pause, whether breakpoints pay off again. Empty until a session is chosen. */
  probe: string | undefined
  /** The latest pause. */
  pause?: CachingPause
}

/** Stops adding breakpoints to an owner's requests to a target as long as they cost more than they save. */
export interface Pauses {
  /** Returns whether to omit breakpoints from a session's request. */
  isPaused(pair: string, session: string): boolean
  /** Like `isPaused`, but doesn't choose the session as the one that tests after a pause. */
  wouldPause(pair: string, session: string): boolean
  /** Counts a request with breakpoints. */
  note(
    pair: string,
    spent: { written: number; savedUsd: number },
    subject: { caller: string; target: RouteTarget },
  ): void
  /** Returns the current pauses. */
  list(): CachingPause[]
}

/** Creates the pauses, which are kept in memory by owner and target. Logs a warning whenever one starts. */
export function createPauses({ clock, logger }: { clock: Pick<Clock, 'now'>; logger: Logger | undefined }): Pauses {
  const pairs = new Map<string, Pair>()

  function getPair(name: string): Pair {
    const existing = pairs.get(name)
    if (existing) return existing
    const created: Pair = { events: [], pausedUntil: 0, stops: 0, probe: undefined }
    evictOldest(pairs, MAX_PAIRS)
    pairs.set(name, created)
    return created
  }

  function wouldPause(name: string, session: string): boolean {
    const pair = pairs.get(name)
    if (!pair) return false
    return clock.now() < pair.pausedUntil || (Boolean(pair.probe) && pair.probe !== session)
  }

  return {
    wouldPause,
    isPaused(name, session) {
      if (wouldPause(name, session)) return true
      const pair = pairs.get(name)
      if (pair?.probe === '') pair.probe = session
      return false
    },
    list() {
      const now = clock.now()
      return [...pairs.values()].flatMap(({ pausedUntil, pause }) => (pause && pausedUntil > now ? [pause] : []))
    },
    note(name, spent, { caller, target: { connection, provider, model } }) {
      const pair = getPair(name)
      const now = clock.now()
      pair.events = pair.events.filter(({ at }) => at > now - HOUR_MS).slice(-MAX_EVENTS)
      pair.events.push({ at: now, ...spent })
      const writtenTokens = pair.events.reduce((sum, event) => sum + event.written, 0)
      const savedUsd = pair.events.reduce((sum, event) => sum + event.savedUsd, 0)
      if (savedUsd > 0) {
        pair.probe = undefined
        pair.stops = 0
      }
      if (savedUsd >= 0 || writtenTokens < MIN_WRITTEN || pair.events.length < MIN_REQUESTS) return
      pair.stops++
      const hours = Math.min(24, pair.stops < 3 ? 1 : 2 ** (pair.stops - 2))
      const pausedUntil = now + hours * HOUR_MS
      const until = new Date(pausedUntil).toISOString()
      pair.pause = { caller, connectionId: connection.id, provider, model, until, savedUsd }
      Object.assign(pair, { events: [], pausedUntil, probe: '' })
      logger?.warn(
        `Prompt caching is paused for ${hours} h for one caller and target: cache breakpoints cost $${(-savedUsd).toFixed(4)} more than they saved in the last hour.`,
        { target: name.slice(name.indexOf(' ') + 1), written: writtenTokens, savedUsd },
      )
    },
  }
}
