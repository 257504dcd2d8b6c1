import type { JsonObject } from '../lib/json.ts'
import type { FinishReason } from '../protocols/formats/canonical/canonical-response.ts'
import type { ClientFormat, DataTags, Kind, Price } from '../types.ts'
import type { Caller } from './caller.ts'
import type { CodecRequest } from './codec/codec.ts'
import type { ModelRequest } from './model-request.ts'
import { readFacts } from './request-facts.ts'
import type { Group, Route, RouteTarget } from './routing/group.ts'
import type { RequestFacts } from './routing/routing-facts.ts'

/** A model request, as passed to your functions that route it. Don't change it. */
export interface RouteCall {
  /** The same as in the response header `x-signalbox-request-id`. Empty if the request is only explained. */
  readonly id: string
  /** The requested name of a model, an alias, or a combo. It can also be a name that only your function knows. */
  readonly model: string
  /** The endpoint's path, such as `/v1/chat/completions`. */
  readonly endpoint: string
  /** The format of the request and its response. */
  readonly format: ClientFormat
  readonly kind: Kind
  /** Whether the client requested a stream. */
  readonly stream: boolean
  /** The JSON body, or the form's fields. */
  readonly body: JsonObject
  /** The size of the body in bytes. */
  readonly bytes: number
  /** Whether the request declares tools. */
  readonly tools: boolean
  /** Whether the request contains images. */
  readonly images: boolean
  /** The `metadata` in the body, or an empty object if there is none. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** The client's API key. Absent for a request without one, if none is required. */
  readonly key: RouteKey | undefined
  /** The account that the request runs as. Absent if your app names none. */
  readonly account: RouteAccount | undefined
  /** Returns a header's value; `name` is lowercase. */
  header(name: string): string | undefined
}

/** A request's API key. */
export interface RouteKey {
  readonly id: string
  readonly name: string
  readonly group?: { readonly id: string; readonly name: string } | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** A request's account. */
export interface RouteAccount {
  /** Your own ID. */
  readonly id: string
  readonly name?: string | undefined
  readonly plan?: { readonly id: string; readonly name: string } | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly tags?: readonly string[] | undefined
}

/** A chat response, as passed to your functions that judge it. */
export interface RouteResponse {
  readonly provider: string
  readonly model: string
  readonly connectionId: string
  /** The text. Empty if there is only a tool call. */
  readonly text: string
  readonly toolCalls: ReadonlyArray<{ readonly name: string; readonly arguments: string }>
  /** Why the response ended: `stop`, `length`, `tool-calls`, `content-filter`, and so on. */
  readonly finishReason: FinishReason
  /** The tokens that the provider reported. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | undefined
}

/** The second argument of `route`. */
export interface RouteContext {
  /** The same as the request's `account`. */
  readonly account: RouteAccount | undefined
  /** The account's plan. */
  readonly plan: RouteAccount['plan']
  /** The same as the request's `key`. */
  readonly key: RouteKey | undefined
  /**
   * Lists the targets that the caller may use for these models, aliases, and combos. Default: the targets of the requested name. The list is empty
   * for a name that only your function knows.
   */
  candidates(models?: string | readonly string[]): RouteCandidate[]
  /** Aborts when the client disconnects, or when the function has taken a second. */
  readonly signal: AbortSignal
}

/** A target that `route` can choose. */
export interface RouteCandidate {
  /** A name to return from `route`. All connections that offer the model share it. */
  readonly name: string
  readonly provider: string
  readonly model: string
  readonly connectionId: string
  /** The connection's tags. Absent if it has none. */
  readonly tags?: Readonly<DataTags> | undefined
  /** In US dollars, per million tokens or per unit. Absent if unknown. */
  readonly price?: Price | undefined
  /** Whether the target is in cooldown after failures. */
  readonly isCooling: boolean
  /**
   * The recent average latency in ms, on this instance: the time to the first token if streaming, otherwise to the complete response. Absent before
   * the first response.
   */
  readonly latencyMs?: number | undefined
}

/** The parts of a request that contain its facts. */
export interface RouteCallSource extends Pick<CodecRequest, 'call'> {
  readonly id: string
  readonly caller: Caller
  readonly exchange: Pick<CodecRequest['exchange'], 'header'>
}

/** A request for `route`. */
export interface RoutableRequest
  extends RouteCallSource,
    Pick<ModelRequest, 'unruled' | 'context' | 'settings' | 'table' | 'list'> {
  /** Aborts when the client stops waiting. Absent if the request is only explained. */
  readonly signal?: AbortSignal
  /** Returns whether the caller could use the target by requesting this model. */
  isAllowed(target: RouteTarget, model: string): boolean
}

/** The models that `route` chose. */
export interface RoutedModels {
  readonly names: readonly string[]
  /** The group to use in place of the requested name. */
  readonly group: Group
  /** Returns the chosen name that led to one of the group's routes. */
  getName(route: Route): string
}

/** Calls `route` for a request. Resolves to `undefined` if `route` returns nothing, and rejects with `ROUTE_FAILED`. `onError` receives the cause. */
export type ChooseModels = (
  request: RoutableRequest,
  onError: (error: unknown) => void,
) => Promise<RoutedModels | undefined>

/** The facts about a request, computed on demand. */
export class RouteCallFacts implements RouteCall {
  readonly id: string
  /** A property, so that functions can destructure it. */
  readonly header: RouteCall['header']
  readonly #source: RouteCallSource
  readonly #facts: RequestFacts

  constructor(source: RouteCallSource) {
    const { id, call, caller, exchange } = source
    this.id = id
    const header: RouteCall['header'] = (name) => exchange.header(name)
    this.header = header
    this.#source = source
    this.#facts = readFacts(call, { owner: caller.owner, header })
  }

  get model(): string {
    return this.#source.call.model
  }

  get endpoint(): string {
    return this.#source.call.endpoint.path
  }

  get format(): ClientFormat {
    return this.#source.call.endpoint.format
  }

  get kind(): Kind {
    return this.#source.call.endpoint.operation.kind
  }

  get stream(): boolean {
    return this.#source.call.stream
  }

  get body(): JsonObject {
    return this.#source.call.body
  }

  get bytes(): number {
    return this.#facts.bytes
  }

  get tools(): boolean {
    return this.#facts.hasTools()
  }

  get images(): boolean {
    return this.#facts.hasImages()
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return this.#facts.getMetadata()
  }

  get key(): RouteKey | undefined {
    return this.#source.caller.key
  }

  get account(): RouteAccount | undefined {
    return this.#source.caller.account
  }
}
