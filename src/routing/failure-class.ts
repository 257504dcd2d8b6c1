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

/** What a failure counts against: the connection, or one model on it. A failing model never takes its connection out of use. */
export type HealthLevel = 'connection' | 'model'

/** The cooldown that failures of one class cause. */
export interface Cooling {
  level: HealthLevel
  /** Consecutive failures until the cooldown starts. */
  after: number
  /** The first cooldown in ms; it doubles each time a probe fails, up to `maxMs`. */
  baseMs: number
  maxMs: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** For failures that happen now and then: only several in a row start a cooldown. */
export const unsteady = { level: 'model', after: 3, baseMs: 5 * SECOND, maxMs: 5 * MINUTE } as const

/** By class; classes that are missing do not affect health. */
export const coolings: Readonly<Partial<Record<FailureClass, Cooling>>> = {
  credentials: { level: 'connection', after: 1, baseMs: MINUTE, maxMs: 30 * MINUTE },
  'rate-limit': { level: 'connection', after: 1, baseMs: SECOND, maxMs: MINUTE },
  network: unsteady, // an address that cannot be reached is told of as the connection's
  server: unsteady,
  timeout: unsteady,
  content: unsteady,
  'model-not-found': { level: 'model', after: 1, baseMs: 5 * MINUTE, maxMs: 60 * MINUTE },
}

/** Classes that count against the whole provider when several of its connections fail with them at once. */
export const ofProvider: ReadonlySet<FailureClass> = new Set(['server', 'network', 'timeout'])
