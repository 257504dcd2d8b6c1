/** Why an attempt failed. Only `client` is the caller's own fault and is answered at once; all others may go to the next target. */
export type FailureClass =
  | 'client'
  | 'context-overflow'
  | 'format' // the target's format cannot say what the client asks
  | 'credentials'
  | 'rate-limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'content'
  | 'model-not-found'
  | 'internal' // the gateway's own fault

/** Whom a failure speaks against: the account, or one model by that account. One bad model never takes its account with it. */
export type HealthLevel = 'connection' | 'model'

/** What a failure does to the health of its target. */
export interface Cooling {
  level: HealthLevel
  /** Consecutive failures until the target is left alone. */
  after: number
  /** The first cooldown, which doubles each time that a probe fails, up to `maxMs`. */
  baseMs: number
  maxMs: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** What fails now and then is left alone when it fails several times in a row. */
export const unsteady = { level: 'model', after: 3, baseMs: 5 * SECOND, maxMs: 5 * MINUTE } as const

/** One row a class; classes without a row say nothing of the target's health. */
export const coolings: Readonly<Partial<Record<FailureClass, Cooling>>> = {
  credentials: { level: 'connection', after: 1, baseMs: MINUTE, maxMs: 30 * MINUTE },
  'rate-limit': { level: 'connection', after: 1, baseMs: SECOND, maxMs: MINUTE },
  network: unsteady, // an address that cannot be reached is told of as the connection's
  server: unsteady,
  timeout: unsteady,
  content: unsteady,
  'model-not-found': { level: 'model', after: 1, baseMs: 5 * MINUTE, maxMs: 60 * MINUTE },
}

/** Failures that a whole provider has when several of its accounts have them at once. */
export const ofProvider: ReadonlySet<FailureClass> = new Set(['server', 'network', 'timeout'])
