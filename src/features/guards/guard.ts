import type { GatewayCall } from '../../feature.ts'
import type { JsonObject } from '../../lib/json.ts'

/**
 * Reads the text of requests and responses, and passes, changes, refuses, or answers them. It works the same for all client formats and kinds. It
 * runs once per request, after the key and its limits have been checked and before a target is chosen, and once per response, or as a stream's text
 * arrives.
 */
export interface Guard {
  /** Shown to clients and in records: 1 to 64 letters, digits, `-`, `_`, and `.`; unique within a gateway. */
  readonly name: string
  /** Identifies the rules behind `check`. Change it with them. */
  readonly version?: string
  /** Default: both. */
  readonly on?: ReadonlyArray<'request' | 'answer'>
  /**
   * Checks text. Return `undefined` or `{ verdict: 'pass' }` to let it pass. If it throws, times out, or returns anything else, the guard has failed
   * (`onError`).
   */
  check(texts: GuardTexts, context: GuardContext): GuardVerdict | undefined | Promise<GuardVerdict | undefined>
  /** Set if `check` may return `change`. These guards run first, one after another; the others then run concurrently on the result. */
  readonly changes?: true
  /**
   * The response to a refused request. `error` (the default): a 400. `answer`: a response without text and with a content-filter finish reason, which
   * agents handle better. Refused responses always end that way.
   */
  readonly as?: 'error' | 'answer'
  /** The refusal's message. It may name your policy, but must not repeat the content. */
  readonly message?: string
  /**
   * How to handle a refused older turn, that is, one before the model's last turn. `remove` (the default) replaces the text with `[removed by
   * policy]`, so the conversation can continue. `refuse` refuses the request.
   */
  readonly older?: 'remove' | 'refuse'
  /**
   * How to handle a failure of the guard. `refuse` (the default): the request fails with a 503. `pass`: the request continues. `onError` gets the
   * cause either way.
   */
  readonly onError?: 'refuse' | 'pass'
  /**
   * `during`: the provider is called without waiting for the check of the request, and its response is held until the verdict. So the content leaves,
   * and costs, even if it is refused. Verdicts on older strings are remembered for an hour. Ignored for guards with `changes`, and for requests with
   * tools that a provider runs. Default: `before`.
   */
  readonly stage?: 'before' | 'during'
  /** Default: 2,000 ms. */
  readonly timeoutMs?: number
  /** `watch` reports verdicts to `onError` and the `x-signalbox-guards` header, and enforces none. Default: `enforce`. */
  readonly mode?: 'enforce' | 'watch'
  /** Whether to refuse images, audio, and files, whose content guards can't read. Default: `pass`. */
  readonly media?: 'pass' | 'refuse'
  /** Whether to refuse media that a request names by URL or file ID. Default: `pass`. */
  readonly remote?: 'pass' | 'refuse'
  /** How much of a stream to hold back: a `window` of the latest text (the default), or `all` of it until its end. */
  readonly hold?: 'window' | 'all'
  /** The longest match, in characters. Text in a stream is sent once this many more characters have been checked. Default: 256. */
  readonly maxMatch?: number
}

/** The text that a guard checks in one call. */
export interface GuardTexts {
  readonly parts: readonly GuardPart[]
  readonly stage: 'request' | 'answer'
  /** Whether the parts are complete. In a stream, a part may be a piece of a longer text. */
  readonly final: boolean
}

/** One text of a request or response. */
export interface GuardPart {
  /** Identifies the part in this call. */
  readonly id: string
  readonly role: GuardRole
  /**
   * `text`: text by a person or the model. `tool-call`: the name or arguments of a call. `media`: the text of a file. `option`: a parameter of the
   * request, such as `metadata`. `other`: anything else, such as an ID.
   */
  readonly kind: GuardPartKind
  readonly text: string
  /** Set for a piece of a streamed text that may continue. */
  readonly isPiece?: boolean
  /** The text before this piece, which the client has received, or which an earlier block contains; at most 256 characters. */
  readonly before?: string
  /** Whether the part is in or before the model's last turn. */
  readonly isOlder: boolean
}

export type GuardRole = 'system' | 'user' | 'assistant' | 'tool'

export type GuardPartKind =
  | ('text' | 'tool-call' | 'tool-result' | 'tool-definition')
  | ('reasoning' | 'media' | 'option' | 'other')

export interface GuardContext {
  /** Aborts when the client disconnects, another guard refuses, or time runs out. */
  readonly signal: AbortSignal
  /** Lives from the request's check to the end of its response. Shared by all guards of the request. */
  readonly memory: Map<unknown, unknown>
  /** The request; its content is in the parts. */
  readonly request: GuardedRequest
  /**
   * Calls a model endpoint of this gateway with a JSON body, such as `/v1/moderations`, and resolves to the JSON of its response. The call needs no
   * key, counts against no limit, and isn't guarded. Rejects unless the status is 200.
   */
  callModel(path: string, body: JsonObject): Promise<JsonObject>
  /** The gateway's own `fetch`. Pass it the `signal`. */
  fetch(url: string, init?: RequestInit): Promise<Response>
}

export type GuardedRequest = Pick<
  GatewayCall,
  'id' | 'path' | 'model' | 'format' | 'kind' | 'stream' | 'key' | 'account'
>

export type GuardVerdict =
  | { readonly verdict: 'pass' }
  | { readonly verdict: 'change'; readonly changes: readonly GuardChange[] }
  /** `category`: for records and the client, such as `project-name`; never a quote. `ids`: the parts at fault, if known. */
  | { readonly verdict: 'refuse'; readonly category?: string; readonly ids?: readonly string[] }
  /** Responds with this text instead. Only for requests. */
  | { readonly verdict: 'answer'; readonly text: string }

/** A change to a part: its new text, or the new text of a span (in UTF-16 code units, `end` excluded). */
export interface GuardChange {
  readonly id: string
  readonly text: string
  readonly start?: number
  readonly end?: number
}
