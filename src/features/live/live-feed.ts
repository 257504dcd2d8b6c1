import type { CancelDeadline } from '../../lib/deadline.ts'
import type { InFlight } from '../../lib/in-flight.ts'
import {
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  GUARDS_PREFIX,
  KEYS_PREFIX,
  PREVIOUS_KEYS_PREFIX,
  PROVIDERS_PREFIX,
  SETTINGS_KEY,
} from '../../records/record-collections.ts'
import type { Store } from '../../records/store.ts'
import type { AttemptLog } from '../../request/attempt-log.ts'
import { Client } from '../../request/request-client.ts'
import type { RequestEvents } from '../../request/request-events.ts'
import type { RequestLog } from '../../request/request-log.ts'
import { type HealthEntry, listHealthEntries } from '../../request/routing/health-entry.ts'
import type { Health } from '../../request/routing/target-health.ts'
import type { Clock } from '../../types.ts'
import type { StoredAttempt, StoredRequest, StoredSkip, StoredTarget } from '../usage/request-record.ts'
import { createStoredAttempt, createStoredRequest, createStoredSkip } from '../usage/stored-request.ts'
import type { UsageStore } from '../usage/usage.ts'

/** An in-flight request's attempt. `outcome` is absent until the response arrives. The stream may still be running after `answered`. */
export type LiveAttempt = StoredTarget & { number: number; startMs: number } & Partial<
    Pick<StoredAttempt, 'outcome' | 'status' | 'durationMs' | 'message'>
  >

/** An in-flight model request. Contains nothing from prompts or responses. */
export interface RunningRequest
  extends Pick<
    StoredRequest,
    'id' | 'time' | 'endpoint' | 'format' | 'streamed' | 'keyId' | 'groupId' | 'account' | 'user' | 'model'
  > {
  attempts: readonly LiveAttempt[]
  skipped?: readonly StoredSkip[]
  firstByteMs?: number
}

/** Each event type's data. A request's `id` is its `x-signalbox-request-id`. */
export interface LiveEvents {
  /** The in-flight requests, up to 1,000. Sent first in each stream and after each `lost`. */
  running: { requests: readonly RunningRequest[] }
  /** Events were lost. `events` is their number, if known. State that was built from earlier events may be stale. */
  lost: { events?: number }
  /** A request's body has been read. */
  began: RunningRequest
  /** An attempt started or ended, or a target was skipped. */
  attempt: { id: string } & (LiveAttempt | StoredSkip)
  /** A response or the first content of its stream arrived, `firstByteMs` after the request did. */
  'first-word': { id: string; number: number; firstByteMs: number }
  finished: StoredRequest
  /** The health of a provider, a connection, or a model on a connection has changed; `ok` means that it is healthy again. */
  health: HealthEntry | (Pick<HealthEntry, 'level' | 'provider' | 'connectionId' | 'model' | 'combo'> & { state: 'ok' })
  /** A record may have changed; `collection` is the resource's name, such as `keys`. */
  changed: { collection: string; id?: string }
}

export type LiveEventType = keyof LiveEvents

/** An event as readers receive it. Pass `id` as `after` to resume. */
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

/** A buffered event. Its text is built once, for the first reader that receives it. */
interface BufferedEvent {
  type: LiveEventType
  data: object
  text?: string
}

export interface LiveDependencies {
  store: Pick<Store, 'connections' | 'freshness'>
  clock: Clock
  health: Health
  inFlight: Pick<InFlight, 'values'>
  events: Pick<RequestEvents, 'add'>
  usage: UsageStore | undefined
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onExpire: () => void): CancelDeadline
  onError(error: unknown): void
}

/** Maximum number of events to buffer for slow and reconnecting readers. */
const MAX_BUFFERED = 5_000
const MAX_RUNNING = 1_000
/** How long events are buffered after the last reader disconnects so that it can resume, in ms. */
const BUFFERED_MS = 60_000

/** This instance's live events. Buffers events while there is a reader and for a minute afterward. Otherwise, requests don't report any events. */
export class LiveFeed {
  readonly deps: LiveDependencies
  /** The connected readers. */
  readonly readers = new Set<{ onEvent(): void; close(): void }>()
  /** This event sequence's unique name. */
  sequence = ''
  /** The number of events in this sequence so far. */
  head = 0
  #buffer: BufferedEvent[] = [] // event `n` is at index `n % MAX_BUFFERED`
  #states = new Map<string, HealthEntry>()
  #isHealthDue = false
  #cancelEndTimer: CancelDeadline = () => {}
  #stopListening: () => void = () => {}

  constructor(deps: LiveDependencies) {
    this.deps = deps
    const { freshness } = deps.store
    freshness.onChange((key) => {
      const [, collection] = COLLECTIONS.find(([prefix]) => key.startsWith(prefix)) ?? []
      if (collection !== undefined) this.emitChanged(collection)
    })
    freshness.onGap(() => this.#add('lost', {}))
  }

  /** Ends the streams of all readers. */
  close(): void {
    for (const reader of this.readers) reader.close()
  }

  /** Adds a reader. Resolves to a function that removes it. */
  async open(reader: { onEvent(): void; close(): void }): Promise<() => void> {
    this.readers.add(reader)
    this.#cancelEndTimer()
    if (this.sequence === '') await this.#start()
    return () => {
      this.readers.delete(reader)
      if (this.readers.size === 0) this.#cancelEndTimer = this.deps.startTimer(BUFFERED_MS, () => this.#stop())
    }
  }

  async #start(): Promise<void> {
    const { events, usage } = this.deps
    this.sequence = crypto.randomUUID().slice(0, 8)
    this.#stopListening = events.add({
      read: (log) => this.#addRequestEvent('began', createRunningRequest(log)),
      attempting: (attempt, log) => this.#addAttempt(log, attempt),
      responded: (attempt, log) => this.#addAttempt(log, attempt),
      skipped: (skip, log) => this.#addRequestEvent('attempt', { id: log.id, ...createStoredSkip(skip) }),
      ended: (log) => log.ending && this.#addRequestEvent('finished', createStoredRequest(log, log.ending)),
    })
    this.#states = await this.#readHealth()
    await usage?.followPeers((request) => this.#add('finished', request))
  }

  #stop(): void {
    if (this.readers.size > 0) return
    this.#stopListening()
    this.sequence = ''
    this.head = 0
    this.#buffer = []
  }

  #addRequestEvent<Type extends LiveEventType>(type: Type, data: LiveEvents[Type]): void {
    this.#isHealthDue = true
    this.#add(type, data)
  }

  #addAttempt(log: RequestLog, attempt: AttemptLog): void {
    const data = createLiveAttempt(attempt, log.startedAt)
    this.#addRequestEvent('attempt', { id: log.id, ...data })
    const { outcome, number, startMs, durationMs = 0 } = data
    if (outcome === 'answered') this.#add('first-word', { id: log.id, number, firstByteMs: startMs + durationMs })
  }

  /** Reports that a record may have changed. */
  emitChanged(collection: string, id?: string): void {
    this.#isHealthDue = true
    this.#add('changed', { collection, ...(id !== undefined && { id }) })
  }

  #add<Type extends LiveEventType>(type: Type, data: LiveEvents[Type]): void {
    if (this.sequence === '') return
    this.#buffer[this.head % MAX_BUFFERED] = { type, data }
    this.head++
    for (const reader of this.readers) reader.onEvent()
  }

  /** Returns the event ID for a position. A reader can resume after that event. */
  formatEventId(position: number): string {
    return `${this.sequence}-${position}`
  }

  /** Parses an event ID into a position. Returns `undefined` if the events after that position are no longer buffered. */
  parseEventId(name: string): number | undefined {
    const [sequence, number] = name.split('-')
    const position = Number(number)
    return sequence === this.sequence && position <= this.head && this.isBuffered(position) ? position : undefined
  }

  isBuffered = (position: number): boolean => this.head - position <= MAX_BUFFERED

  /** Returns the text of the event after a position, or an empty string if the reader didn't request events of its type. */
  getTextAfter(position: number, wantedTypes: ReadonlySet<LiveEventType>): string {
    const event = this.#buffer[position % MAX_BUFFERED]
    if (!event || !wantedTypes.has(event.type)) return ''
    event.text ??= this.formatEvent(event.type, event.data, position + 1)
    return event.text
  }

  formatEvent(type: LiveEventType, data: object, position: number): string {
    return `id: ${this.formatEventId(position)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
  }

  listRunning(): LiveEvents['running'] {
    const logs = this.deps.inFlight.values().flatMap((work) => (work instanceof Client ? work.log : []))
    return { requests: logs.slice(0, MAX_RUNNING).map(createRunningRequest) }
  }

  /** Returns when a target's state will next change without a request, in epoch ms. */
  getNextHealthChange(): number {
    const now = this.deps.clock.now()
    const times = [...this.#states.values()].map(({ retryAt = '' }) => Date.parse(retryAt)).filter((time) => time > now)
    return Math.min(...times)
  }

  /** Adds events for targets whose health changed since the last call. */
  async checkHealth(): Promise<void> {
    const hasCooldownEnded = [...this.#states.values()].some(
      ({ state, retryAt = '' }) => state === 'cooling' && Date.parse(retryAt) <= this.deps.clock.now(),
    )
    if (!this.#isHealthDue && !hasCooldownEnded) return
    this.#isHealthDue = false
    if (this.#states.size === 0 && (this.deps.health.facts.records?.isEmpty() ?? true)) return
    const entries = await this.#readHealth()
    const previousEntries = this.#states
    this.#states = entries
    for (const [subject, entry] of entries) {
      const previous = previousEntries.get(subject)
      if (previous?.state !== entry.state || previous.reason !== entry.reason || previous.retryAt !== entry.retryAt)
        this.#add('health', entry)
    }
    for (const [subject, { level, provider, connectionId, model, combo }] of previousEntries) {
      if (entries.has(subject)) continue
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

  async #readHealth(): Promise<Map<string, HealthEntry>> {
    const { store, health, onError } = this.deps
    try {
      const entries = listHealthEntries(await store.connections.all(), health.facts)
      return new Map(
        entries.map((entry) => {
          const { level, provider, connectionId, model, combo } = entry
          return [JSON.stringify([level, provider, connectionId, model, combo]), entry]
        }),
      )
    } catch (error) {
      onError(error) // the storage is unavailable
      return this.#states
    }
  }
}

/** Collection names by storage key prefix. */
const COLLECTIONS = [
  [KEYS_PREFIX, 'keys'],
  [PREVIOUS_KEYS_PREFIX, 'keys'],
  [GROUPS_PREFIX, 'groups'],
  [GUARDS_PREFIX, 'guards'],
  [CONNECTIONS_PREFIX, 'connections'],
  [COMBOS_PREFIX, 'combos'],
  [CUSTOM_MODELS_PREFIX, 'customModels'],
  [ALIASES_PREFIX, 'aliases'],
  [PROVIDERS_PREFIX, 'providers'],
  [SETTINGS_KEY, 'settings'],
] as const

function createLiveAttempt({ route, startedAt, number, record }: AttemptLog, requestedAt: number): LiveAttempt {
  const { provider, model, connection } = route.target
  if (!record) return { number: number, provider, model, connectionId: connection.id, startMs: startedAt - requestedAt }
  const { tokens: _, units: __, costUsd: ___, costSource: ____, ...attempt } = createStoredAttempt(record, requestedAt)
  return { number: number, ...attempt }
}

function createRunningRequest(log: RequestLog): RunningRequest {
  const { startedAt, route, caller, user, model, streamed } = log
  const { key, account } = caller
  const attempts = log.attempts.map((attempt) => createLiveAttempt(attempt, startedAt))
  const skipped = log.steps.flatMap((step) => ('outcome' in step ? [] : createStoredSkip(step)))
  const respondingAttempt = attempts.findLast(({ outcome }) => outcome === 'answered')
  return {
    id: log.id,
    time: new Date(startedAt).toISOString(),
    endpoint: route.path,
    ...(route.operation.kind && { format: route.format }),
    streamed,
    ...(key && { keyId: key.id }),
    ...(key?.group && { groupId: key.group.id }),
    ...(account && { account: account.ref }),
    ...(user !== undefined && { user }),
    ...(model !== undefined && { model: model.slice(0, MAX_NAME_LENGTH) }),
    attempts,
    ...(skipped.length > 0 && { skipped }),
    ...(respondingAttempt && { firstByteMs: respondingAttempt.startMs + (respondingAttempt.durationMs ?? 0) }),
  }
}

const MAX_NAME_LENGTH = 512
