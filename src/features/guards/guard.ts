import type { GatewayCall } from '../../feature.ts'
import type { JsonObject } from '../../lib/json.ts'

/**
 * Reads the text of requests and responses, and passes, changes, rejects, or answers them. It works the same way for all client formats and kinds. It
 * runs once per request, after the key and its limits have been checked and before a target is chosen. It also runs once per response, or, for a
 * stream, as its text arrives.
 */
export interface Guard {
  /** The guard's name in records and messages to clients: 1 to 64 letters, digits, `-`, `_`, and `.`; unique within a gateway. */
  readonly name: string
  /** The version of the rules in `check`. Change it whenever the rules change. */
  readonly version?: string
  /** Whether to check requests, responses (`answer`), or both. Default: both. */
  readonly on?: ReadonlyArray<'request' | 'answer'>
  /**
   * Checks text. Return `undefined` or `{ verdict: 'pass' }` to let it pass. If it throws, times out, or returns anything invalid, the guard has
   * failed (see `onError`).
   */
  check(texts: GuardTexts, context: GuardContext): GuardVerdict | undefined | Promise<GuardVerdict | undefined>
  /** Set this if `check` may return `change`. These guards run first and sequentially. All other guards then run concurrently on the result. */
  readonly changes?: true
  /**
   * How to respond to a rejected request. `error` (the default): a 400. `answer`: a response without text and with a content-filter finish reason,
   * which agents handle better. Rejected responses always end that way.
   */
  readonly as?: 'error' | 'answer'
  /** The rejection message. It may name your policy, but must not repeat the content. */
  readonly message?: string
  /**
   * How to handle rejected text in an older turn, that is, in the model's last turn or before it. `remove` (the default) replaces the text with
   * `[removed by policy]`, so the conversation can continue. `refuse` rejects the request.
   */
  readonly older?: 'remove' | 'refuse'
  /**
   * How to handle a failure of this guard. `refuse` (the default) rejects the request with a 503. `pass` lets the request continue. The gateway's
   * `onError` gets the cause either way.
   */
  readonly onError?: 'refuse' | 'pass'
  /**
   * `before` (the default) checks the request before the provider is called. `during` calls the provider without waiting for the check and holds the
   * response until the guard's verdict. The provider gets the content and charges for it even if the guard rejects it. Verdicts on older strings are
   * cached for an hour. Ignored for guards with `changes`, and for requests with tools that a provider runs.
   */
  readonly stage?: 'before' | 'during'
  /** Default: 2,000 ms. */
  readonly timeoutMs?: number
  /** `enforce` (the default) acts on verdicts. `watch` only reports them, in records and in the `x-signalbox-guards` header. */
  readonly mode?: 'enforce' | 'watch'
  /** Whether to reject images, audio, and files, whose content guards can't read. Default: `pass`. */
  readonly media?: 'pass' | 'refuse'
  /** Whether to reject media that a request references by URL or file ID. Default: `pass`. */
  readonly remote?: 'pass' | 'refuse'
  /** How much of a stream to hold back: a `window` of the latest text (the default), or `all` text until the stream ends. */
  readonly hold?: 'window' | 'all'
  /** The length of the longest match, in characters. Streamed text is sent once this many characters after it have been checked. Default: 256. */
  readonly maxMatch?: number
}

/** The text that a guard checks in one call. */
export interface GuardTexts {
  readonly parts: readonly GuardPart[]
  readonly stage: 'request' | 'answer'
  /** Whether the parts are complete. In a stream, a part may be a piece of a longer string. */
  readonly final: boolean
}

/** One string in a request or response. */
export interface GuardPart {
  /** Identifies the part within this call. */
  readonly id: string
  readonly role: GuardRole
  /**
   * `text`: text written by a person or the model. `tool-call`: the name or arguments of a tool call. `media`: the text of a file. `option`: a
   * parameter of the request, such as `metadata`. `other`: anything else, such as an ID.
   */
  readonly kind: GuardPartKind
  readonly text: string
  /** Set for a piece of streamed text, which later pieces may continue. */
  readonly isPiece?: boolean
  /** The text before this piece, at most 256 characters. The client has already received it, or it is in an earlier block. */
  readonly before?: string
  /** The positions in `before + text` at which another string, such as a content block, begins. A word may begin or end there. */
  readonly starts?: readonly number[]
  /** Whether the part is in or before the model's last turn. */
  readonly isOlder: boolean
}

export type GuardRole = 'system' | 'user' | 'assistant' | 'tool'

export type GuardPartKind =
  | ('text' | 'tool-call' | 'tool-result' | 'tool-definition')
  | ('reasoning' | 'media' | 'option' | 'other')

export interface GuardContext {
  /** Aborts when the client disconnects, when another guard rejects the content, or after the timeout. */
  readonly signal: AbortSignal
  /** Data that a request's guards share from the request check to the end of the response. */
  readonly memory: Map<unknown, unknown>
  /** The request without its content, which is in the parts. */
  readonly request: GuardedRequest
  /**
   * Calls one of this gateway's model endpoints with a JSON body, such as `/v1/moderations`, and resolves to the JSON of its response. The call needs
   * no key, doesn't count toward any limit, and isn't guarded. Rejects unless the status is 200.
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
  /**
   * `category` is a label for records and the client, such as `project-name`; it must never quote the content. `ids` are the rejected parts, if
   * known.
   */
  | { readonly verdict: 'refuse'; readonly category?: string; readonly ids?: readonly string[] }
  /** Responds with this text instead of calling a provider. Only for requests. */
  | { readonly verdict: 'answer'; readonly text: string }

/** A change to a part: new text for the entire part, or for a span (in UTF-16 code units, `end` exclusive). */
export interface GuardChange {
  readonly id: string
  readonly text: string
  readonly start?: number
  readonly end?: number
}
