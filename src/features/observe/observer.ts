import type { Exchange, Reply } from '../../lib/exchange.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { ClientFormat, Kind, LimitState } from '../../types.ts'

/**
 * An entry in the `observe` option, which observes model requests as they run. Errors that it throws are logged and have no other effect. Observers
 * never see prompts, responses, credentials, or client addresses.
 */
export interface GatewayObserver {
  /** Called when a model request arrives. May return a follower for it. */
  request?(request: ObservedRequest): RequestFollower | undefined
  /** A page for operators, such as `/metrics`. */
  readonly page?: ObserverPage
}

/** A page that an observer serves below the base path, for `GET` and `HEAD` requests. */
export interface ObserverPage {
  /** The page's path under the base path, such as `/metrics`. */
  readonly path: string
  /** A bearer token that grants access. If absent, the `management` option controls access. */
  readonly token?: string
  reply(exchange: Pick<Exchange, 'header'>, facts: GatewayFacts): Promise<Reply>
}

/** The gateway's current state. */
export interface GatewayFacts {
  /** Whether this instance is one of many short-lived ones, such as Workers isolates. */
  readonly isOneOfMany: boolean
  /** Targets that were called recently or are in cooldown. Rejects with `STORAGE_FAILED`. */
  targets(): Promise<TargetFact[]>
  /** The state of the gateway's limits and of the first 100 groups with limits. Rejects with the same errors as `targets`. */
  limits(): Promise<LimitState[]>
  /** The age of the catalog's newest prices, in ms, or `undefined` if the catalog has no date. */
  catalogAgeMs(): Promise<number | undefined>
}

/** A target's state. */
export interface TargetFact {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  /** Whether the model is in the catalog, is a custom model, or is enabled on its connection. */
  readonly isKnown: boolean
  readonly state: 'ok' | 'cooling' | 'draining'
}

/** A model request whose endpoint is known but whose body hasn't been read yet. */
export interface ObservedRequest {
  /** The ID in the response header `x-signalbox-request-id`. */
  readonly id: string
  readonly method: string
  /** The endpoint's path below the base path, with `{model}` in place of the model name, such as `/v1/chat/completions`. */
  readonly route: string
  /** The path that was requested. */
  readonly path: string
  /** `http` or `https`: the client's scheme. Behind a proxy, it comes from `x-forwarded-proto` or `forwarded`. */
  readonly scheme?: string
  readonly format: ClientFormat
  readonly operation: string
  /** Absent for endpoints that don't call a model. */
  readonly kind?: Kind
  /** Epoch ms. */
  readonly startedAt: number
  /** Returns a trace header or `user-agent`. Returns `undefined` for any other header. `name` is in lowercase. */
  header(name: string): string | undefined
}

/** Returns whether observers may see a header. Any other header might contain a credential or an address. */
export const isObservedHeader = (name: string): boolean =>
  /^(?:user-agent|traceparent|tracestate|baggage|b3|x-b3-[a-z]+|x-amzn-trace-id|x-cloud-trace-context|x-request-id)$/.test(
    name,
  )

/** Follows one request. */
export interface RequestFollower {
  /** Called when the request has been read. `isKnown` tells whether `model` is a known combo, alias, or model. */
  asked?(requested: { model: string; isKnown: boolean; stream: boolean }): void
  /** Called before each provider call. May return a follower for the attempt. */
  attempt?(attempt: ObservedAttempt): AttemptFollower | undefined
  /** Called once when the request ends: after its last byte, or when it fails. */
  ended?(record: RequestRecord): void
}

/** A provider call that is about to start. */
export interface ObservedAttempt {
  /** Starts at 1, in the order in which attempts start. */
  readonly number: number
  /** Whether this attempt is a hedge, which races a slow attempt. */
  readonly isHedge: boolean
  /** Whether the client requested a stream. */
  readonly stream?: boolean
  readonly provider: string
  readonly connectionId: string
  /** The provider's format. */
  readonly format: string
  readonly model: string
  /** Whether the model is in the catalog, is a custom model, or is enabled on its connection. */
  readonly isKnown: boolean
  /** The provider's base URL. */
  readonly baseUrl: string
  /** Epoch ms. */
  readonly startedAt: number
}

/** Follows one attempt. */
export interface AttemptFollower {
  /** Headers to send to the provider: the trace context. Headers with invalid values are dropped. */
  headers?(): Readonly<Record<string, string>> | undefined
  /** Called when the stream's first content arrives, `afterMs` after the start. */
  begun?(afterMs: number): void
  /** Called once when the attempt settles: after the last byte of its response, or when it fails. */
  ended?(record: AttemptRecord, end: AttemptEnd): void
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** The time from the start to the last byte, in ms. */
  readonly totalMs: number
  /** Whether the stream was cut off. If so, the outcome is still `answered`. */
  readonly isCut: boolean
}
