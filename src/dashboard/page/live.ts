import { signal } from '@preact/signals'
import type { LiveEvent, LiveEventType } from '../../client/client.ts'
import type { RunningRequest } from '../../http/live-feed.ts'
import { api, lostAt } from './session.ts'

export type { LiveEvent, LiveEventType, RunningRequest }

/** So often at most events are handed over, in ms. */
const TOGETHER = 250

/** The requests that are under way, by their ids. */
export const running = signal<ReadonlyMap<string, RunningRequest>>(new Map())

const listeners = new Set<(events: LiveEvent[]) => void>()
let last: string | undefined
let waiting: LiveEvent[] = []

/** Calls `listener` with what has happened, in order. Returns the function that ends it. */
export function onEvents(listener: (events: LiveEvent[]) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the gateway while the page is visible: one stream for all views. Returns the function that ends it. */
export function followLive(): () => void {
  let stop = new AbortController()

  async function start() {
    stop.abort()
    if (document.hidden) return
    stop = new AbortController()
    const events = api.value.live({
      signal: stop.signal,
      ...(last !== undefined && { after: last }),
      onConnection: (error) => {
        lostAt.value = error && (lostAt.value ?? Date.now())
      },
    })
    for await (const event of events) {
      last = event.id
      if (waiting.push(event) === 1) setTimeout(hand, TOGETHER)
    }
  }

  const begin = () => void start().catch(() => {}) // it was refused, which the page is told of by its fetch
  begin()
  document.addEventListener('visibilitychange', begin)
  return () => {
    document.removeEventListener('visibilitychange', begin)
    stop.abort()
  }
}

function hand() {
  const events = waiting
  waiting = []
  const requests = new Map(running.value)
  for (const event of events) note(event, requests)
  running.value = requests
  for (const listener of listeners) listener(events)
}

function note({ type, data }: LiveEvent, requests: Map<string, RunningRequest>) {
  if (type === 'running') {
    requests.clear()
    for (const request of data.requests) requests.set(request.id, request)
  } else if (type === 'began') requests.set(data.id, data)
  else if (type === 'finished') requests.delete(data.id)
  else if (type === 'attempt' || type === 'first-word') {
    const known = requests.get(data.id)
    if (!known) return
    if (type === 'first-word') requests.set(data.id, { ...known, firstByteMs: data.firstByteMs })
    else if ('number' in data)
      requests.set(data.id, { ...known, attempts: Object.assign([...known.attempts], { [data.number - 1]: data }) })
  }
}
