import type { Exchange } from '../lib/exchange.ts'
import { type Background, isThenable } from '../lib/promises.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { ExcludedEntry, Skip } from './hook-records.ts'
import type { RequestLog } from './request-log.ts'

/**
 * Follows requests as they run. Usage records, hooks, observers, and the live feed are listeners. If a listener throws or rejects, the error is
 * reported and doesn't affect the request.
 */
export interface RequestListener {
  /** Called when a request to a route has arrived, before its body is read. */
  arrived?(exchange: Exchange, request: RequestLog): unknown
  /** Called when a model request's body has been read. */
  read?(request: RequestLog): unknown
  /** Called when a provider is about to be called. */
  attempting?(attempt: AttemptLog, request: RequestLog): unknown
  /** Called when an attempt has its outcome: the response has arrived, its stream has its first content, or the attempt failed. */
  responded?(attempt: AttemptLog, request: RequestLog): unknown
  /** Called when a target or a combo entry is skipped. */
  skipped?(skip: Skip | ExcludedEntry, request: RequestLog): unknown
  /** Called when an attempt is over, and its usage is known: after the last byte of its response, or after its failure. */
  settled?(attempt: AttemptLog, request: RequestLog): unknown
  /** Called when a request is over: after its last byte, or after its error. */
  ended?(request: RequestLog): unknown
}

/** The events of all requests, in the order in which they happen. */
export class RequestEvents {
  readonly #background: Background
  readonly reportError: (error: unknown) => void
  readonly #listenersByEvent: Record<keyof RequestListener, RequestListener[]> = {
    arrived: [],
    read: [],
    attempting: [],
    responded: [],
    skipped: [],
    settled: [],
    ended: [],
  }

  /** Creates the events. `background` waits for the promises that listeners return. */
  constructor({ background, onError }: { background: Background; onError(error: unknown): void }) {
    this.#background = background
    this.reportError = onError
  }

  /** Adds a listener, and returns the function that removes it. */
  add(listener: RequestListener): () => void {
    const lists = Object.entries(this.#listenersByEvent).filter(
      ([event]) => typeof Reflect.get(listener, event) === 'function',
    )
    for (const [, list] of lists) list.push(listener)
    return () => {
      for (const [, list] of lists) if (list.includes(listener)) list.splice(list.indexOf(listener), 1)
    }
  }

  /** Reports a request event. The request is the last argument. */
  emit<Event extends keyof RequestListener>(event: Event, ...args: Parameters<Required<RequestListener>[Event]>): void {
    for (const listener of this.#listenersByEvent[event])
      this.call(() => Reflect.apply(listener[event] as () => unknown, listener, args), args.at(-1) as RequestLog) // the list only contains listeners of this event
  }

  /** Calls a request's listener, and reports any error or rejection. */
  call(listener: () => unknown, request: RequestLog): void {
    try {
      const result = listener()
      if (isThenable(result)) this.waitFor(Promise.resolve(result), request)
    } catch (error) {
      this.reportError(error)
    }
  }

  /** Awaits work that outlives a request's response. */
  waitFor(work: Promise<unknown>, { waitUntil }: RequestLog): void {
    this.#background.run(work, waitUntil)
  }
}
