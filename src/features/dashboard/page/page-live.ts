import { signal } from '@preact/signals'
import type { LiveEvent, LiveEventType } from '../../../client/client.ts'
import type { RunningRequest } from '../../live/live-feed.ts'
import { api, disconnectedAt } from './session.ts'

export type { LiveEvent, LiveEventType, RunningRequest }

/** Minimum interval between listener calls, in ms. */
const BATCH_MS = 250

export const runningRequests = signal<ReadonlyMap<string, RunningRequest>>(new Map())

const listeners = new Set<(events: LiveEvent[]) => void>()
let lastEventId: string | undefined
let pendingEvents: LiveEvent[] = []

/** Calls `listener` with events in order. Returns a function that removes the listener. */
export function onEvents(listener: (events: LiveEvent[]) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the gateway's events while the page is visible, with one stream for all views. Returns a function that stops following. */
export function followLive(): () => void {
  let controller = new AbortController()

  async function followEvents() {
    controller.abort()
    if (document.hidden) return
    controller = new AbortController()
    const events = api.value.live({
      signal: controller.signal,
      ...(lastEventId !== undefined && { after: lastEventId }),
      onConnection: (error) => {
        disconnectedAt.value = error && (disconnectedAt.value ?? Date.now())
      },
    })
    for await (const event of events) {
      lastEventId = event.id
      if (pendingEvents.push(event) === 1) setTimeout(deliverEvents, BATCH_MS)
    }
  }

  const restart = () => void followEvents().catch(() => {}) // the page's fetch handles the rejection
  restart()
  document.addEventListener('visibilitychange', restart)
  return () => {
    document.removeEventListener('visibilitychange', restart)
    controller.abort()
  }
}

function deliverEvents() {
  const events = pendingEvents
  pendingEvents = []
  const requests = new Map(runningRequests.value)
  for (const event of events) applyEvent(event, requests)
  runningRequests.value = requests
  for (const listener of listeners) listener(events)
}

function applyEvent({ type, data }: LiveEvent, requests: Map<string, RunningRequest>) {
  if (type === 'running') {
    requests.clear()
    for (const request of data.requests) requests.set(request.id, request)
  } else if (type === 'began') requests.set(data.id, data)
  else if (type === 'finished') requests.delete(data.id)
  else if (type === 'attempt' || type === 'first-word') {
    const request = requests.get(data.id)
    if (!request) return
    if (type === 'first-word') requests.set(data.id, { ...request, firstByteMs: data.firstByteMs })
    else if ('number' in data)
      requests.set(data.id, { ...request, attempts: Object.assign([...request.attempts], { [data.number - 1]: data }) })
  }
}
