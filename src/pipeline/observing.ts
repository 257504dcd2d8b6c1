import type { Exchange, Reply } from '../lib/exchange.ts'
import type { ClientFormat, Kind, LimitState } from '../types.ts'
import type { AttemptRecord, RequestRecord } from './records.ts'

/**
 * Observes each request to a model endpoint while it runs; an entry of the option `observe`. What an observer throws or rejects with is logged, and
 * has no other effect. It gets no prompt, no answer, no credential and no address of a client.
 */
export interface GatewayObserver {
  /** A model request has arrived. Returns what follows it, or nothing. */
  request?(request: ObservedRequest): RequestFollower | undefined
  /** A page for operators. */
  readonly page?: ObserverPage
}

/** A page that an observer serves below the base path, to `GET` and `HEAD`. */
export interface ObserverPage {
  /** Below the base path, such as `/metrics`. */
  readonly path: string
  /** Opens it as `Authorization: Bearer`. Without it the page has the guard of the option `management`. */
  readonly token?: string
  reply(exchange: Pick<Exchange, 'header'>, facts: GatewayFacts): Promise<Reply>
}

/** Facts about the present state of the gateway. */
export interface GatewayFacts {
  /** Is this instance one of many that come and go, such as the isolates of Workers? */
  readonly isOneOfMany: boolean
  /** The targets that have been called lately, or that cool. Rejects with `STORAGE_FAILED`. */
  targets(): Promise<TargetFact[]>
  /** How much is used of the limits of the gateway and of the first 100 groups that have some. Rejects as `targets` does. */
  limits(): Promise<LimitState[]>
}

/** The state of a target. */
export interface TargetFact {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  /** Is the model in the catalog, a custom one, or enabled on its connection? */
  readonly isKnown: boolean
  readonly state: 'ok' | 'cooling' | 'draining'
}

/** A model request, of which the endpoint is known and nothing else has been read. */
export interface ObservedRequest {
  /** As in the header `x-signalbox-request-id`. */
  readonly id: string
  readonly method: string
  /** The endpoint's path below the base path, with `{model}` where the model's name stands, such as `/v1/chat/completions`. */
  readonly route: string
  /** As it was asked for, below the host. */
  readonly path: string
  readonly format: ClientFormat
  readonly operation: string
  readonly kind: Kind
  /** Epoch ms. */
  readonly startedAt: number
  /** A header of the request that says whose trace it belongs to, or `user-agent`; `undefined` for all others. `name` in lower case. */
  header(name: string): string | undefined
}

/** May an observer see the header? Those that are not listed may hold a credential or an address. */
export const isObservedHeader = (name: string): boolean =>
  /^(?:user-agent|traceparent|tracestate|baggage|b3|x-b3-[a-z]+|x-amzn-trace-id|x-cloud-trace-context|x-request-id)$/.test(
    name,
  )

/** Follows one request. */
export interface RequestFollower {
  /** Called when the request has been read. `isKnown`: does the gateway know the name, as a combo, an alias or a model? */
  asked?(asked: { model: string; isKnown: boolean; stream: boolean }): void
  /** Called before a provider is called. Returns what follows the attempt, or nothing. */
  attempt?(attempt: ObservedAttempt): AttemptFollower | undefined
  /** Called once, when the request is over: its last byte has been sent, or it has failed. */
  ended?(record: RequestRecord): void
}

/** A call to a provider that begins. */
export interface ObservedAttempt {
  /** From 1, in the order in which they begin. */
  readonly number: number
  /** Is it a second attempt beside a slow one (a hedge)? */
  readonly isHedge: boolean
  readonly provider: string
  readonly connectionId: string
  /** The provider's format. */
  readonly format: string
  readonly model: string
  /** Is the model in the catalog, a custom one, or enabled on its connection? */
  readonly isKnown: boolean
  /** The base URL of the provider. */
  readonly baseUrl: string
  /** Epoch ms. */
  readonly startedAt: number
}

/** Follows one attempt. */
export interface AttemptFollower {
  /** Headers for the provider: the trace context. Those that no request can carry are left out. */
  headers?(): Readonly<Record<string, string>> | undefined
  /** Called when the first content of its stream has come, `afterMs` after its start. */
  begun?(afterMs: number): void
  /** Called once, when the attempt has settled: after the last byte of its answer, or after its failure. */
  ended?(record: AttemptRecord, end: AttemptEnd): void
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** From its start to its last byte. */
  readonly totalMs: number
  /** Has its stream broken off? Its outcome is `answered` then. */
  readonly isCut: boolean
}
