import type { CancelDeadline } from '../lib/deadline.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { AttemptLog } from '../pipeline/attempt-log.ts'
import { Client } from '../pipeline/client.ts'
import { keptAttempt, keptSkip } from '../pipeline/kept-request.ts'
import type { Live } from '../pipeline/live.ts'
import type { RequestLog } from '../pipeline/request-log.ts'
import type { Health } from '../routing/health.ts'
import { type HealthEntry, healthEntries } from '../routing/health-entry.ts'
import {
  ALIASES,
  COMBOS,
  CONNECTIONS,
  CUSTOM_MODELS,
  FORMER_KEYS,
  GROUPS,
  KEYS,
  PROVIDERS,
  SETTINGS,
} from '../store/collections.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from '../types.ts'
import type { KeptAttempt, KeptRequest, KeptSkip, KeptTarget } from '../usage/kept/record.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'

/** An attempt of a request under way. Without an `outcome` it is under way itself; after `answered` its stream goes on. */
export type LiveAttempt = KeptTarget & { number: number; startMs: number } & Partial<
    Pick<KeptAttempt, 'outcome' | 'status' | 'durationMs' | 'message'>
  >

/** A model request under way: what is known of it. Nothing in it comes from a prompt or an answer. */
export interface RunningRequest
  extends Pick<
    KeptRequest,
    'id' | 'time' | 'endpoint' | 'format' | 'streamed' | 'keyId' | 'groupId' | 'user' | 'model'
  > {
  attempts: readonly LiveAttempt[]
  skipped?: readonly KeptSkip[]
  firstByteMs?: number
}

/** What the events of each type hold. `id`, where it is that of a request: as in `x-signalbox-request-id`. */
export interface LiveEvents {
  /** The requests that are under way, at most 1,000: the first event, and that after `lost`. */
  running: { requests: readonly RunningRequest[] }
  /** Events were lost; how many, where that is known. What was shown may be out of date. */
  lost: { events?: number }
  /** A request has been read. */
  began: RunningRequest
  /** An attempt begins, or has its outcome; or a target is passed over. */
  attempt: { id: string } & (LiveAttempt | KeptSkip)
  /** An answer has come, or the first content of its stream, `firstByteMs` after the request. */
  'first-word': { id: string; number: number; firstByteMs: number }
  finished: KeptRequest
  /** The state of a provider, a connection or a model on a connection has changed; `ok`: it is healthy again. */
  health: HealthEntry | (Pick<HealthEntry, 'level' | 'provider' | 'connectionId' | 'model' | 'combo'> & { state: 'ok' })
  /** A record may have been changed; `collection`: the name of the resource, such as `keys`. */
  changed: { collection: string; id?: string }
}

export type LiveEventType = keyof LiveEvents

/** An event as readers get it; `id`: where to go on. */
export type LiveEvent = {
  [Type in LiveEventType]: { id: string; type: Type; data: LiveEvents[Type] }
}[LiveEventType]

export const liveEventTypes = [
  'running',
  'lost',
  'began',
  'attempt',
  'first-word',
  'finished',
  'health',
  'changed',
] as const satisfies readonly LiveEventType[]

/** An event as it is held: its text is made once, when the first reader gets it. */
interface HeldEvent {
  type: LiveEventType
  data: object
  text?: string
}

export interface LiveDependencies {
  store: Pick<Store, 'connections' | 'freshness'>
  clock: Clock
  health: Health
  inFlight: Pick<InFlight, 'values'>
  /** The receiver to which requests report their events. */
  live: Live
  usage: KeptUsage | undefined
  /** Starts a timer that keeps no process alive. */
  startTimer(ms: number, onTime: () => void): CancelDeadline
  onError(error: unknown): void
}

/** The number of events that are held for readers that are slow or connect again. */
const MOST_HELD = 5_000
const MOST_RUNNING = 1_000
/** How long events are still held after the last reader has left, in ms, so that it can continue where it was. */
const HELD_MS = 60_000

/** The live events of this instance. They are held while there is a reader, and for a minute after; without a reader, requests report no events. */
export class LiveFeed {
  readonly deps: LiveDependencies
  /** The readers that are connected. */
  readonly readers = new Set<{ news(): void; end(): void }>()
  /** Of this run of events; other runs have other names. */
  run = ''
  /** How many events there have been in this run. */
  head = 0
  #held: HeldEvent[] = [] // the event with the number n at n % MOST_HELD
  #states = new Map<string, HealthEntry>()
  #isHealthDue = false
  #cancelEnd: CancelDeadline = () => {}

  constructor(deps: LiveDependencies) {
    this.deps = deps
    const { freshness } = deps.store
    freshness.onChange((key) => {
      const [, collection] = COLLECTIONS.find(([prefix]) => key.startsWith(prefix)) ?? []
      if (collection !== undefined) this.changed(collection)
    })
    freshness.onGap(() => this.#add('lost', {}))
    deps.live.end = () => {
      for (const reader of this.readers) reader.end()
    }
  }

  /** Adds a reader. Returns the function that removes it. */
  async open(reader: { news(): void; end(): void }): Promise<() => void> {
    this.readers.add(reader)
    this.#cancelEnd()
    if (this.run === '') await this.#begin()
    return () => {
      this.readers.delete(reader)
      if (this.readers.size === 0) this.#cancelEnd = this.deps.startTimer(HELD_MS, () => this.#end())
    }
  }

  async #begin(): Promise<void> {
    const { live, usage, onError } = this.deps
    this.run = crypto.randomUUID().slice(0, 8)
    live.tell = (...[what, of, more]) => {
      try {
        this.#isHealthDue = true
        if (what === 'finished') this.#add('finished', of)
        else if (what === 'began') this.#add('began', runningRequest(of))
        else if (what === 'skipped') this.#add('attempt', { id: of.id, ...keptSkip(more) })
        else this.#attempt(of, more)
      } catch (error) {
        onError(error) // no request fails for those who watch
      }
    }
    this.#states = await this.#healthNow()
    await usage?.followOthers((request) => this.#add('finished', request))
  }

  #end(): void {
    if (this.readers.size > 0) return
    this.deps.live.tell = undefined
    this.run = ''
    this.head = 0
    this.#held = []
  }

  #attempt(log: RequestLog, attempt: AttemptLog): void {
    const told = liveAttempt(attempt, log.attempts.indexOf(attempt), log.facts().startedAt)
    this.#add('attempt', { id: log.id, ...told })
    const { outcome, number, startMs, durationMs = 0 } = told
    if (outcome === 'answered') this.#add('first-word', { id: log.id, number, firstByteMs: startMs + durationMs })
  }

  /** Tells that a record may have been changed. */
  changed(collection: string, id?: string): void {
    this.#isHealthDue = true
    this.#add('changed', { collection, ...(id !== undefined && { id }) })
  }

  #add<Type extends LiveEventType>(type: Type, data: LiveEvents[Type]): void {
    if (this.run === '') return
    this.#held[this.head % MOST_HELD] = { type, data }
    this.head++
    for (const reader of this.readers) reader.news()
  }

  /** The name of a place between two events, from which a reader can go on. */
  nameOf(place: number): string {
    return `${this.run}-${place}`
  }

  /** The place with this name; `undefined` when its following events are not held. */
  placeOf(name: string): number | undefined {
    const [run, number] = name.split('-')
    const place = Number(number)
    return run === this.run && place <= this.head && this.isHeld(place) ? place : undefined
  }

  isHeld = (place: number): boolean => this.head - place <= MOST_HELD

  /** The text of the event after a place, if its type is wanted. */
  textAfter(place: number, wanted: ReadonlySet<LiveEventType>): string {
    const event = this.#held[place % MOST_HELD]
    if (!event || !wanted.has(event.type)) return ''
    event.text ??= this.textOf(event.type, event.data, place + 1)
    return event.text
  }

  textOf(type: LiveEventType, data: object, place: number): string {
    return `id: ${this.nameOf(place)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
  }

  running(): LiveEvents['running'] {
    const logs = this.deps.inFlight.values().flatMap((work) => (work instanceof Client ? work.log : []))
    return { requests: logs.slice(0, MOST_RUNNING).map(runningRequest) }
  }

  /** When the state of a target changes next by time alone, epoch ms. */
  nextChange(): number {
    const now = this.deps.clock.now()
    const times = [...this.#states.values()].map(({ retryAt = '' }) => Date.parse(retryAt)).filter((time) => time > now)
    return Math.min(...times)
  }

  /** Adds the changes of the health of targets since the last call. */
  async checkHealth(): Promise<void> {
    const isOver = [...this.#states.values()].some(
      ({ state, retryAt = '' }) => state === 'cooling' && Date.parse(retryAt) <= this.deps.clock.now(),
    )
    if (!this.#isHealthDue && !isOver) return
    this.#isHealthDue = false
    if (this.#states.size === 0 && this.deps.health.facts.records.isEmpty()) return
    const now = await this.#healthNow()
    const before = this.#states
    this.#states = now
    for (const [subject, entry] of now) {
      const known = before.get(subject)
      if (known?.state !== entry.state || known.reason !== entry.reason || known.retryAt !== entry.retryAt)
        this.#add('health', entry)
    }
    for (const [subject, { level, provider, connectionId, model, combo }] of before) {
      if (now.has(subject)) continue
      this.#add('health', {
        level,
        provider,
        ...(connectionId !== undefined && { connectionId }),
        ...(model !== undefined && { model }),
        ...(combo !== undefined && { combo }),
        state: 'ok',
      })
    }
  }

  async #healthNow(): Promise<Map<string, HealthEntry>> {
    const { store, health, onError } = this.deps
    try {
      const entries = healthEntries(await store.connections.all(), health.facts)
      return new Map(
        entries.map((entry) => {
          const { level, provider, connectionId, model, combo } = entry
          return [JSON.stringify([level, provider, connectionId, model, combo]), entry]
        }),
      )
    } catch (error) {
      onError(error) // the storage is away
      return this.#states
    }
  }
}

/** The names of collections by the prefixes of their storage keys. */
const COLLECTIONS = [
  [KEYS, 'keys'],
  [FORMER_KEYS, 'keys'],
  [GROUPS, 'groups'],
  [CONNECTIONS, 'connections'],
  [COMBOS, 'combos'],
  [CUSTOM_MODELS, 'customModels'],
  [ALIASES, 'aliases'],
  [PROVIDERS, 'providers'],
  [SETTINGS, 'settings'],
] as const

function liveAttempt({ route, startedAt, record }: AttemptLog, at: number, requestedAt: number): LiveAttempt {
  const { provider, model, connection } = route.target
  const number = at + 1
  if (!record) return { number, provider, model, connectionId: connection.id, startMs: startedAt - requestedAt }
  const { tokens: _, units: __, costUsd: ___, costSource: ____, ...attempt } = keptAttempt(record, requestedAt)
  return { number, ...attempt }
}

function runningRequest(log: RequestLog): RunningRequest {
  const { startedAt, endpoint, key, user, model, streamed, steps } = log.facts()
  const attempts = log.attempts.map((attempt, at) => liveAttempt(attempt, at, startedAt))
  const skipped = steps.flatMap((step) => (step && !('outcome' in step) ? keptSkip(step) : []))
  const answered = attempts.findLast(({ outcome }) => outcome === 'answered')
  return {
    id: log.id,
    time: new Date(startedAt).toISOString(),
    endpoint: endpoint.path,
    format: endpoint.format,
    streamed,
    ...(key && { keyId: key.id }),
    ...(key?.group && { groupId: key.group.id }),
    ...(user !== undefined && { user }),
    ...(model !== undefined && { model: model.slice(0, LONGEST_NAME) }),
    attempts,
    ...(skipped.length > 0 && { skipped }),
    ...(answered && { firstByteMs: answered.startMs + (answered.durationMs ?? 0) }),
  }
}

const LONGEST_NAME = 512
