import { evictOldest } from '../../lib/maps.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { CachingPause } from '../../types/caching-types.ts'
import type { Clock, Logger } from '../../types.ts'

const HOUR_MS = 60 * 60_000
const MIN_REQUESTS = 8
const MIN_WRITTEN_TOKENS = 50_000
const MAX_PAIRS = 10_000
const MAX_EVENTS = 1_000

interface CachingPair {
  /** Requests with breakpoints in the last hour. */
  events: Array<{ at: number; written: number; savedUsd: number }>
  /** No request gets breakpoints before this time. */
  pausedUntil: number
  pauseCount: number
  /** The session that tests, after a pause, whether breakpoints pay off again. Empty until a session is chosen. */
  probeSession: string | undefined
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
  record(
    pair: string,
    usage: { written: number; savedUsd: number },
    subject: { caller: string; target: RouteTarget },
  ): void
  /** Returns the current pauses. */
  list(): CachingPause[]
}

/** Creates the pauses, which are kept in memory by owner and target. Logs a warning whenever one starts. */
export function createPauses({ clock, logger }: { clock: Pick<Clock, 'now'>; logger: Logger | undefined }): Pauses {
  const pairs = new Map<string, CachingPair>()

  function getPair(name: string): CachingPair {
    const existingPair = pairs.get(name)
    if (existingPair) return existingPair
    const createdPair: CachingPair = { events: [], pausedUntil: 0, pauseCount: 0, probeSession: undefined }
    evictOldest(pairs, MAX_PAIRS)
    pairs.set(name, createdPair)
    return createdPair
  }

  function wouldPause(name: string, session: string): boolean {
    const pair = pairs.get(name)
    if (!pair) return false
    return clock.now() < pair.pausedUntil || (Boolean(pair.probeSession) && pair.probeSession !== session)
  }

  return {
    wouldPause,
    isPaused(name, session) {
      if (wouldPause(name, session)) return true
      const pair = pairs.get(name)
      if (pair?.probeSession === '') pair.probeSession = session
      return false
    },
    list() {
      const now = clock.now()
      return [...pairs.values()].flatMap(({ pausedUntil, pause }) => (pause && pausedUntil > now ? [pause] : []))
    },
    record(name, usage, { caller, target: { connection, provider, model } }) {
      const pair = getPair(name)
      const now = clock.now()
      pair.events = pair.events.filter(({ at }) => at > now - HOUR_MS).slice(-MAX_EVENTS)
      pair.events.push({ at: now, ...usage })
      const writtenTokens = pair.events.reduce((sum, event) => sum + event.written, 0)
      const savedUsd = pair.events.reduce((sum, event) => sum + event.savedUsd, 0)
      if (savedUsd > 0) {
        pair.probeSession = undefined
        pair.pauseCount = 0
      }
      if (savedUsd >= 0 || writtenTokens < MIN_WRITTEN_TOKENS || pair.events.length < MIN_REQUESTS) return
      pair.pauseCount++
      const hours = Math.min(24, pair.pauseCount < 3 ? 1 : 2 ** (pair.pauseCount - 2))
      const pausedUntil = now + hours * HOUR_MS
      const until = new Date(pausedUntil).toISOString()
      pair.pause = { caller, connectionId: connection.id, provider, model, until, savedUsd }
      Object.assign(pair, { events: [], pausedUntil, probeSession: '' })
      logger?.warn(
        `Prompt caching is paused for ${hours} h for one caller and target: cache breakpoints cost $${(-savedUsd).toFixed(4)} more than they saved in the last hour.`,
        { target: name.slice(name.indexOf(' ') + 1), written: writtenTokens, savedUsd },
      )
    },
  }
}
