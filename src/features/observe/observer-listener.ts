import { redactClientKeys } from '../../errors.ts'
import type { FeatureEvents } from '../../feature.ts'
import type { Exchange } from '../../lib/exchange.ts'
import { type Background, isThenable } from '../../lib/promises.ts'
import type { AttemptLog } from '../../request/attempt-log.ts'
import type { ModelLog } from '../../request/model-log.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { RequestLog } from '../../request/request-log.ts'
import { type AttemptFollower, type GatewayObserver, isObservedHeader, type RequestFollower } from './observer.ts'

export interface ListenerOptions {
  /** Awaits promises that followers return. */
  background: Background
  onError(error: unknown): void
}

/** Lets an observer follow requests. */
export const createObserverListener = (observer: GatewayObserver, options: ListenerOptions): FeatureEvents =>
  new ObserverListener(observer, options)

/**
 * Passes request events to an observer's followers. If a follower throws or rejects, its error goes to `onError` without affecting the request or
 * other observers.
 */
class ObserverListener implements RequestListener {
  readonly #observer: GatewayObserver
  readonly #options: ListenerOptions
  readonly #requests = new WeakMap<RequestLog, RequestFollower>()
  readonly #attempts = new WeakMap<AttemptLog, AttemptFollower>()

  constructor(observer: GatewayObserver, options: ListenerOptions) {
    this.#observer = observer
    this.#options = options
  }

  arrived(exchange: Exchange, log: RequestLog): void {
    const { id, method, path, startedAt, route } = log
    const { kind, name } = route.operation
    const follower = this.#call(log, () =>
      this.#observer.request?.({
        id,
        method,
        route: route.path,
        path,
        get scheme() {
          return getScheme(exchange)
        },
        format: route.format,
        operation: name,
        ...(kind && { kind }),
        startedAt,
        header: (name) => (isObservedHeader(name) ? maskKeys(exchange.header(name)) : undefined),
      }),
    )
    if (follower) this.#requests.set(log, follower)
  }

  read(log: ModelLog): void {
    const { model = '', isKnownModel: isKnown, streamed: stream } = log
    this.#call(log, () => this.#requests.get(log)?.asked?.({ model, isKnown, stream }))
  }

  attempting(attempt: AttemptLog, log: ModelLog): void {
    const { number, isHedge, startedAt } = attempt
    const { target } = attempt.route
    const follower = this.#call(log, () =>
      this.#requests.get(log)?.attempt?.({
        number: number,
        isHedge,
        stream: log.streamed,
        provider: target.provider,
        connectionId: target.connection.id,
        format: target.format,
        model: target.model,
        isKnown: log.isKnownTarget(target),
        baseUrl: target.baseUrl ?? '',
        startedAt,
      }),
    )
    if (!follower) return
    this.#attempts.set(attempt, follower)
    const headers = this.#call(log, () => follower.headers?.())
    const validHeaders = headers && this.#call(log, () => dropInvalidHeaders(headers))
    if (validHeaders) attempt.addHeaders(validHeaders)
  }

  responded(attempt: AttemptLog, log: RequestLog): void {
    const { record, isStreaming } = attempt
    if (isStreaming && record?.outcome === 'answered')
      this.#call(log, () => this.#attempts.get(attempt)?.begun?.(record.durationMs))
  }

  settled(attempt: AttemptLog, log: RequestLog): void {
    const { record, totalMs, isCut } = attempt
    if (record) this.#call(log, () => this.#attempts.get(attempt)?.ended?.(record, { totalMs, isCut }))
  }

  ended(log: RequestLog): void {
    this.#call(log, () => this.#requests.get(log)?.ended?.(log.record))
  }

  /** Returns the observer's result, or `undefined` if it throws or returns a promise. */
  #call<T>({ waitUntil }: RequestLog, call: () => T): T | undefined {
    const { background, onError } = this.#options
    try {
      const result = call()
      if (!isThenable(result)) return result
      background.run(Promise.resolve(result), waitUntil)
    } catch (error) {
      onError(error)
    }
    return undefined
  }
}

const maskKeys = (text: string | undefined) => text && redactClientKeys(text)

/** Returns the scheme of the client's original request, as reported by proxies if there are any. */
function getScheme(exchange: Exchange): string {
  const forwardedScheme =
    exchange.header('x-forwarded-proto') ?? /\bproto="?(\w+)/i.exec(exchange.header('forwarded') ?? '')?.[1]
  const [, scheme = exchange.scheme ?? 'http'] = /^\s*(https?)\b/i.exec(forwardedScheme ?? '') ?? []
  return scheme.toLowerCase()
}

/** Drops invalid headers, because they would make the call fail. */
const dropInvalidHeaders = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        /^[\w-]+$/.test(entry[0]) && typeof entry[1] === 'string' && /^[\t\x20-\x7e]*$/.test(entry[1]),
    ),
  )
