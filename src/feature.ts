import type { Exchange, Reply } from './lib/exchange.ts'
import type { JsonObject } from './lib/json.ts'
import type { PageGuards } from './request/door/pages.ts'
import type { AttemptRecord, RequestRecord, ServedBy } from './request/hook-records.ts'
import type { PipelineSteps, RequestStep } from './request/steps.ts'
import type { ClientFormat, Kind } from './types.ts'

/**
 * An extension of the gateway, passed in the `extend` option. The gateway's own limits, usage records, and observers are also features. Steps run in
 * list order, with the first step outermost. API keys, allowed kinds, and limits are checked before model calls and routes. Allowed models are checked
 * for each target, or for a step's own reply. If a step throws, the request fails with a 500, unless the error comes from `reject`.
 */
export interface Feature {
  /** Used in messages; must be unique within a gateway. */
  readonly name: string
  /** Wraps each request to a model endpoint or a feature route, before its body is read. Call `next` exactly once, or reply yourself. */
  aroundRequest?(request: GatewayRequest, next: () => Promise<Reply>): Promise<Reply | Response>
  /**
   * Wraps each model call, after its body is read and before a target is chosen. Runs once per request, regardless of the number of attempts. Call
   * `next`, with another model or body if you want to change the call. Or reply yourself in the client's format, with a complete response or a
   * stream.
   */
  aroundCall?(call: GatewayCall, next: (change?: GatewayCallChange) => Promise<Reply>): Promise<Reply | Response>
  /**
   * Wraps each attempt at a target, before the request is written for it. `next` makes the attempt, and resolves to its record once it has settled
   * (for a stream, after the last byte). It never rejects. Call `reject` instead of `next` to skip the target; the gateway then tries the next
   * target.
   */
  aroundAttempt?(attempt: GatewayAttempt, next: () => Promise<AttemptRecord>): Promise<unknown>
  /** Your own path prefixes, with routes that need a client key or with a function that serves every request. */
  readonly areas?: ReadonlyArray<FeatureArea | ServedArea>
  /** Routes next to the model endpoints, below `/v1` or `/v1beta`, such as `/v1/account`. They need a client key. */
  readonly routes?: readonly FeatureRoute[]
  /**
   * Operations of the management API, by resource and name. They are served under `/api`, available as `gateway.api.<resource>.<name>`, and described
   * in the OpenAPI document.
   */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, ManagementOperation>>>>
  /** Called with each request's events. Errors go to `onError` and don't affect the request. `close` awaits returned promises. */
  readonly events?: FeatureEvents
  /** Called and awaited when the gateway closes. */
  close?(): unknown
}

/** A feature that is built into the gateway. Its steps receive the gateway's internal objects, and it can have steps that other features can't. */
export interface BuiltInFeature extends PipelineSteps {
  readonly name: string
  aroundRequest?: RequestStep | undefined
  readonly areas?: Feature['areas'] | undefined
  readonly routes?: Feature['routes'] | undefined
  readonly operations?: Feature['operations'] | undefined
  readonly events?: FeatureEvents | undefined
  close?: Feature['close'] | undefined
  /** Loads the feature's listeners before the first request, so they see every request arrive. */
  loadEvents?(): Promise<FeatureEvents>
}

/** A request whose key has been checked. */
export interface GatewayRequest {
  /** The same as in the response header `x-signalbox-request-id`. */
  readonly id: string
  readonly method: string
  /** The requested path, including the base path. */
  readonly path: string
  /** The matched route. `kind` is absent for feature routes. */
  readonly route: {
    readonly path: string
    readonly format: ClientFormat
    readonly operation: { readonly name: string; readonly kind?: Kind }
  }
  /** The client's API key. Absent for a request without one, if none is required. */
  readonly key?:
    | {
        readonly id: string
        readonly name: string
        readonly group?: { readonly id: string; readonly name: string } | undefined
        readonly metadata?: Readonly<Record<string, string>> | undefined
      }
    | undefined
  /** The account that the request runs as: one of your users. Absent if your app identifies none. */
  readonly account?:
    | {
        readonly id: string
        readonly name?: string | undefined
        readonly plan?: { readonly id: string; readonly name: string } | undefined
        readonly metadata?: Readonly<Record<string, string>> | undefined
        readonly tags?: readonly string[] | undefined
      }
    | undefined
  /** Aborts when the client disconnects, when the request's timeout expires, and when the request is over. */
  readonly signal: AbortSignal
  /** The source of the reply, for records. Set it to `cache` or `guard` when your step replies itself. */
  servedBy: ServedBy
  /** Returns a header's value; `name` is lowercase. */
  header(name: string): string | undefined
  /** Calls `listener` when the request is over: after its last byte, or after its error. */
  onEnd(listener: (record: RequestRecord) => void): void
  /** Keeps the platform running for work that outlives the response. */
  waitUntil(work: Promise<unknown>): void
  /** Rejects the request with an error in the client's format. `status` defaults to 403 and determines the error code; a 500 hides the message. */
  reject(message: string, options?: { status?: number }): never
}

/** A model call whose body has been read. */
export interface GatewayCall extends GatewayRequest {
  /** The requested name of a model, an alias, or a combo. */
  readonly model: string
  /** The format of the request and its response. */
  readonly format: ClientFormat
  readonly kind: Kind
  /** Whether the client requested a stream. */
  readonly stream: boolean
  /** The JSON body, or the fields of a form. Don't mutate it; pass a different body to `next`. */
  readonly body: JsonObject
}

/** A step's changes to a model call. Only the client decides whether the response is a stream. */
export interface GatewayCallChange {
  model?: string
  body?: JsonObject
}

/** An attempt at a target. */
export interface GatewayAttempt {
  readonly target: {
    readonly provider: string
    readonly model: string
    readonly connection: { readonly id: string }
  }
  /**
   * Limits the response to this many tokens. Call it before `next`. `x-signalbox-warning` reports the limit, unless the client's own limit is lower.
   */
  limitOutput(tokens: number): void
  /** Rejects the entire request instead of the target: no other target is tried. Call it before `next`. */
  rejectRequest(message: string, options?: { status?: number }): never
  /** Calls `listener` with the record as soon as the attempt has settled. */
  onSettled(listener: (record: AttemptRecord) => void): void
  /** Skips the target with an error in the client's format. Call it instead of `next`; `status` defaults to 403. */
  reject(message: string, options?: { status?: number }): never
}

/** A path prefix with routes that need a client key, such as `/mcp`. The gateway handles every path below it. */
export interface FeatureArea {
  /** The path below the base path, with a leading slash. */
  readonly path: string
  readonly routes: readonly FeatureRoute[]
}

/** A path prefix that needs no client key, such as a web page. `serve` checks who may call it, with one of the `guards` or its own check. */
export interface ServedArea {
  /** The path below the base path, with a leading slash. */
  readonly path: string
  /** Whether the area includes all paths below its path. Default: `true`. */
  readonly hasFolder?: boolean
  /** Creates the reply. If it rejects, the client gets the error as `{ "error": "…" }`. */
  serve(request: ServedAreaRequest): Promise<Reply>
}

/** A request for a path in a `ServedArea`. */
export interface ServedAreaRequest {
  readonly exchange: Exchange
  /** The requested path, below the base path. */
  readonly path: string
  /** The remainder below the area's path. Empty for the area itself. */
  readonly rest: string
  readonly guards: PageGuards
}

/** A route that needs a client key. */
export type FeatureRoute = RecordedRoute | UnrecordedRoute

interface RouteParts {
  /** The HTTP method. `OPTIONS` requests need no key. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** The path below the base path, with parameters: `/hello/:name`; `:path+` matches the rest of a path. */
  readonly path: string
  /** One line for the OpenAPI description. */
  readonly summary?: string
  /** The operation of recorded requests in metrics, traces, and logs, such as `execute_tool`. Default: the feature's name. */
  readonly operation?: string
}

/** A route whose requests are recorded: steps, limits, usage records, hooks, and metrics apply to them. */
export interface RecordedRoute extends RouteParts {
  readonly isRecorded?: true
  run(request: FeatureRouteRequest): Promise<Reply | Response> | Response
}

/** A route that only requires a key, such as one that lists models. */
export interface UnrecordedRoute extends RouteParts {
  readonly isRecorded: false
  run(request: UnrecordedRequest): Promise<Reply | Response> | Response
}

/** A request for a feature's route. */
export interface FeatureRouteRequest extends GatewayRequest {
  /** The path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Reads the body, which must be a JSON object. Rejects with a 400, 408, 413, or 415, which the client receives. */
  json(): Promise<JsonObject>
  /** Reads the body; at most `limits.maxBodyBytes`. */
  bytes(): Promise<Uint8Array>
  /**
   * Charges an amount in US dollars, such as the price of a tool call, and adds it to the request's record. Call it before you spend the money: it
   * rejects with the client's error if a dollar limit leaves less than that. The charge counts even if the request fails later. A request that has
   * ended, such as after its stream's last byte, can't be charged.
   */
  charge(usd: number): Promise<void>
}

/** A request for an unrecorded route. */
export type UnrecordedRequest = Pick<
  FeatureRouteRequest,
  'method' | 'path' | 'key' | 'params' | 'query' | 'header' | 'reject'
>

/** A management API operation. */
export interface ManagementOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path. Its parameters are the first arguments of `run`: `/api/notes/:id`. */
  readonly path: `/api/${string}`
  /** One line for the OpenAPI document. */
  readonly summary: string
  /** Completes the internal error message "Failed to …", for example `fetch notes`. */
  readonly failure: string
  /** A valibot object schema for the last argument: the query of a GET, or the body of other methods. Omit it if there is no input. */
  readonly input?: object
  /** A valibot schema of the result, which is the response's body. */
  readonly output: object
  /** Receives the path parameters, then the validated input. */
  run(...args: never[]): Promise<object>
}

/** Features' operations in `gateway.api`. A feature's type must name them, so declare it without an annotation or with `satisfies Feature`. */
export type FeatureApi<Features extends readonly Feature[]> = Intersect<ApiOf<Features[number]>>

type ApiOf<One> = One extends { readonly operations: infer Operations }
  ? string extends keyof Operations
    ? object
    : {
        readonly [Resource in keyof Operations]: {
          readonly [Name in keyof Operations[Resource]]: Operations[Resource][Name] extends { run: infer Run }
            ? Run
            : never
        }
      }
  : object

type Intersect<Union> = (Union extends unknown ? (argument: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** Listeners that follow requests as they run. */
export interface FeatureEvents {
  /** Called when a model request's body has been read. */
  read?(request: FollowedRequest): unknown
  /** Called when a provider is about to be called. */
  attempting?(attempt: FollowedAttempt, request: FollowedRequest): unknown
  /** Called when an attempt's outcome is known: the response has arrived, its stream has its first content, or the attempt failed. */
  responded?(attempt: FollowedAttempt, request: FollowedRequest): unknown
  /** Called when an attempt is over, and its usage is known. */
  settled?(attempt: FollowedAttempt, request: FollowedRequest): unknown
  /** Called when a request is over: after its last byte, or after its error. */
  ended?(request: FollowedRequest): unknown
}

/** A request, as passed to event listeners. */
export interface FollowedRequest extends Pick<GatewayRequest, 'id' | 'key' | 'route'> {
  /** Epoch ms. */
  readonly startedAt: number
  /** The requested model, or `undefined` if the request couldn't be read, or calls no model. */
  readonly model: string | undefined
  readonly streamed: boolean
  /** The request's record. Throws until the request has ended. */
  readonly record: RequestRecord
}

/** An attempt, as passed to event listeners. */
export interface FollowedAttempt {
  /** The attempt number, starting at 1, in the order in which providers are called. */
  readonly number: number
  /** Epoch ms. */
  readonly startedAt: number
  /** The attempt's record, once it has an outcome. */
  readonly record: AttemptRecord | undefined
}
