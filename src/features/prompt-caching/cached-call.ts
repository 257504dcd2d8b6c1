import { isObject, type JsonObject } from '../../lib/json.ts'
import { parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import { type CacheTraits, getCacheTraits } from '../../protocols/providers/traits/cache-traits.ts'
import type { Codec, CodecRequest } from '../../request/codec/codec.ts'
import { useClientFormat } from '../../request/codec/encode.ts'
import type { FailedResponse } from '../../request/codec/response.ts'
import type { AttemptRecord, PromptCacheRecord } from '../../request/hook-records.ts'
import type { CacheExplanation } from '../../request/routing/explanation.ts'
import type { Route, RouteTarget } from '../../request/routing/group.ts'
import type { Encode, EncodeControls } from '../../request/steps.ts'
import type { CachingSkipReason } from '../../types/caching-types.ts'
import type { Catalog } from '../../types.ts'
import { addBreakpoints, type EditedFields, findSinglePrompt } from './cache-breakpoints.ts'
import { calculateSavings } from './cache-savings.ts'
import type { CachingMode } from './caching-mode.ts'
import type { KnownPrompts } from './known-prompts.ts'
import type { Pauses } from './pauses.ts'
import type { SessionShares } from './session-shares.ts'
import type { SessionTargets } from './session-targets.ts'
import { mergeFields, writeFields } from './write-fields.ts'

/** An attempt that may be sent or only explained. */
export interface ExplainedAttempt {
  readonly request: CodecRequest
  readonly route: Route
  readonly log: Pick<EncodeControls['log'], 'isHedge'>
  readonly mode: CachingMode
}

/** An attempt at a target that may cache prompts. */
export interface CachedAttempt extends ExplainedAttempt {
  readonly log: EncodeControls['log']
  /** The catalog as it was when the request arrived. */
  readonly catalog: Catalog
}

/** A gateway's prompt-caching state. */
export interface CacheMemory {
  readonly sessions: SessionTargets
  readonly shares: SessionShares
  readonly pauses: Pauses
  readonly prompts: KnownPrompts
  /** The targets that rejected breakpoints or a cache key in the last hour. */
  readonly rejectingTargets: { get(target: string): true | undefined; set(target: string, value: true): void }
  /** Hashes the request's session, so the provider never sees the client's own session ID. */
  createSessionKey(session: string, owner: string): Promise<string>
}

const HOUR_MS = 60 * 60_000
const CHARACTERS_PER_TOKEN = 4

/**
 * Matches the ends of the fields that clients use to set breakpoints or select a cached prompt. Names within strings don't match, because their quotes
 * are escaped. The search is faster without the fields' opening quotes, which are frequent in JSON.
 */
const CACHE_FIELD = /[cC]ache(?:_?[cC]ontrol|Point|_?[bB]reakpoint|_?[oO]ptions|d_?[cC]ontent)"/

/** Matches those fields with their values, because a tool's parameter may have the same name. */
const CLIENT_BREAKPOINTS = [
  /"(?:cache_?[cC]ontrol|cachePoint|prompt_cache_breakpoint|promptCacheBreakpoint)"\s*:\s*\{[^{}]*"(?:type|mode)"\s*:\s*"(?:ephemeral|default|explicit)"/,
  /"(?:prompt_cache_options|promptCacheOptions)"\s*:\s*\{/,
  /"cached_?[cC]ontent"\s*:\s*"/,
]

/** Reasons to expect a cache miss. */
const EXPECTED_MISSES = new Set<CachingSkipReason | undefined>(['short', 'single', 'unsupported', 'hedge'])

/** Matches errors about breakpoints or the cache key. */
const BREAKPOINT_ERROR = /cache_control|cachePoint|cache point|prompt_cache/i
const KEY_ERROR = /prompt_cache_key/i

/** An attempt for which the gateway asks the target to cache the prompt. */
export class CachedCall {
  readonly #attempt: ExplainedAttempt
  readonly #memory: CacheMemory
  readonly #traits: CacheTraits
  readonly #targetKey: string
  /** Identifies the owner and the target. Breakpoints are paused per owner and target. */
  readonly #pairKey: string
  readonly #isTargetMoved: boolean
  #skipReason: CachingSkipReason | undefined
  #hasBreakpoints = false
  /** Whether fields were added that the client didn't send. */
  #hasAddedFields = false
  #isRetry = false
  #isDryRun = false

  constructor(attempt: ExplainedAttempt, memory: CacheMemory) {
    const { request, route } = attempt
    const { target } = route
    const previous = memory.sessions.find(request)
    this.#attempt = attempt
    this.#memory = memory
    this.#traits = getCacheTraits(useClientFormat(request.format.name, target))
    this.#targetKey = getTargetKey(target)
    this.#pairKey = `${request.owner} ${this.#targetKey}`
    this.#isTargetMoved =
      previous !== undefined && (previous.connectionId !== target.connection.id || previous.model !== target.model)
    this.#skipReason = this.#findObstacle()
  }

  /** Encodes the request with cache breakpoints where they pay off. `encode` may be called again, without breakpoints. */
  async encode(encode: Encode): Promise<Codec> {
    const { request } = this.#attempt
    if (!this.#addsFields) return encode(request)
    const key = await this.#createSessionKey()
    const codec = await encode({
      ...request,
      editBody: (body) => mergeFields(body, this.#getFields(body, { key, isPassThrough: false })),
    })
    this.#editPassedThrough(codec, key)
    const { sessionHeader } = this.#traits
    if (sessionHeader && key !== undefined) codec.request.headers = { [sessionHeader]: key, ...codec.request.headers }
    return this.#hasAddedFields ? this.#retryWithoutFields(codec, encode) : codec
  }

  /** Explains what `encode` would do, without changing any state. */
  async explain(encode: Encode): Promise<CacheExplanation> {
    const { request } = this.#attempt
    this.#isDryRun = true
    let fields: EditedFields = {}
    if (this.#addsFields) {
      const codec = await encode({
        ...request,
        editBody: (body) => {
          fields = this.#addBreakpoints(body, false)
          return body
        },
      })
      if (codec.isPassThrough) fields = this.#addBreakpoints(request.call.body, true)
    }
    const { acceptsKey, sessionHeader } = this.#traits
    const session = sessionHeader ?? (acceptsKey && 'prompt_cache_key')
    const isSessionNamed = this.#addsFields && session && this.#memory.sessions.getSession(request) !== ''
    return {
      marks: listBreakpointPaths(fields),
      ...(isSessionNamed && { session }),
      ...(this.#skipReason && { stoodDown: this.#skipReason }),
    }
  }

  /** Learns from the settled attempt. Returns the field for the attempt's record if its usage is known. */
  report(settled: AttemptRecord, catalog: Catalog): { promptCache?: PromptCacheRecord } {
    const promptCache = this.#createRecord(settled, catalog)
    return promptCache ? { promptCache } : {}
  }

  #createRecord({ outcome, usage }: AttemptRecord, catalog: Catalog): PromptCacheRecord | undefined {
    const { request, route } = this.#attempt
    const { sessions, shares, pauses, rejectingTargets } = this.#memory
    if (outcome === 'answered') sessions.record(request, route.target, this.#ttlMs)
    if (outcome === 'answered' && this.#isRetry) rejectingTargets.set(this.#targetKey, true)
    if (!usage) return undefined
    const { cacheReadTokens: readTokens = 0, cacheWriteTokens: writtenTokens = 0 } = usage
    const subject = { caller: request.owner, target: route.target }
    const isCacheHitExpected = !EXPECTED_MISSES.has(this.#skipReason) && sessions.getSession(request) !== ''
    if (isCacheHitExpected)
      shares.record(sessions.getKey(request), { input: usage.inputTokens, read: readTokens }, subject)
    const savedUsd = calculateSavings(usage, route.target, catalog)
    if (this.#hasBreakpoints && savedUsd !== undefined)
      pauses.record(this.#pairKey, { written: writtenTokens, savedUsd }, subject)
    return {
      by: this.#hasBreakpoints ? 'gateway' : this.#skipReason === 'client' ? 'client' : 'provider',
      read: readTokens,
      written: writtenTokens,
      ...(savedUsd !== undefined && { savedUsd }),
      ...(this.#skipReason && { stoodDown: this.#skipReason }),
      ...(this.#isTargetMoved && { moved: true as const }),
    }
  }

  /**
   * Whether to add breakpoints, or a key or header that keeps the session on one server. If the client sets its own breakpoints, only the key or
   * header is added.
   */
  get #addsFields(): boolean {
    const { acceptsKey, sessionHeader } = this.#traits
    if (this.#skipReason === 'client') return Boolean(acceptsKey || sessionHeader) && !this.#isRejecting
    return !this.#skipReason
  }

  get #isRejecting(): boolean {
    return this.#memory.rejectingTargets.get(this.#targetKey) === true
  }

  get #ttl() {
    const { mode } = this.#attempt
    return mode === 'auto' || this.#traits.breakpoints?.oneHourTtl === false ? undefined : mode.ttl
  }

  get #ttlMs(): number {
    return this.#ttl === '1h' ? HOUR_MS : this.#traits.ttlMs
  }

  #findObstacle(): CachingSkipReason | undefined {
    const { request, log } = this.#attempt
    const { breakpoints, acceptsKey, sessionHeader, minTokens } = this.#traits
    const { text } = request.call
    if (CACHE_FIELD.test(text) && CLIENT_BREAKPOINTS.some((pattern) => pattern.test(text))) return 'client'
    if (log.isHedge) return 'hedge'
    if (!breakpoints && !acceptsKey && !sessionHeader) return 'unsupported'
    if (text.length < minTokens * CHARACTERS_PER_TOKEN) return 'short'
    return this.#isRejecting ? 'rejected' : undefined
  }

  /** Resolves to `undefined` if the target doesn't support a key, or if the request has no session. */
  async #createSessionKey(): Promise<string | undefined> {
    const { request } = this.#attempt
    if (!this.#traits.acceptsKey && !this.#traits.sessionHeader) return undefined
    const session = this.#memory.sessions.getSession(request)
    return session === '' ? undefined : this.#memory.createSessionKey(session, request.owner)
  }

  /** Adds breakpoints to a body that is otherwise passed through byte for byte. */
  #editPassedThrough(codec: Codec, key: string | undefined): void {
    if (!codec.isPassThrough || typeof codec.request.body !== 'string') return
    const { call } = this.#attempt.request
    const fields = this.#getFields(parseExactObject(call.text, call.body), { key, isPassThrough: true })
    if (Object.keys(fields).length > 0) codec.request.body = writeFields(codec.request.body, fields)
  }

  /** Returns the fields to change in a body that is in the target's format. */
  #getFields(body: JsonObject, { key, isPassThrough }: { key: string | undefined; isPassThrough: boolean }) {
    const fields = this.#addBreakpoints(body, isPassThrough)
    const needsKey = this.#traits.acceptsKey && key !== undefined && body.prompt_cache_key === undefined
    const addedFields = needsKey ? { ...fields, prompt_cache_key: key } : fields
    this.#hasAddedFields ||= Object.keys(addedFields).length > 0
    return addedFields
  }

  #addBreakpoints(body: JsonObject, isPassThrough: boolean): EditedFields {
    const { breakpoints } = this.#traits
    const { pauses, prompts, sessions } = this.#memory
    if (!breakpoints || this.#skipReason === 'client') return {}
    const session = sessions.getSession(this.#attempt.request)
    if (this.#isDryRun ? pauses.wouldPause(this.#pairKey, session) : pauses.isPaused(this.#pairKey, session)) {
      this.#skipReason = 'unprofitable'
      const hasRetentionField = body.prompt_cache_retention !== undefined // OpenAI rejects requests that contain both fields
      return breakpoints.form === 'breakpoint' && !hasRetentionField
        ? { prompt_cache_options: { mode: 'explicit' } }
        : {} // `explicit` prevents the provider from setting its own breakpoints
    }
    const singlePrompt = findSinglePrompt(body)
    const isKnown = (instructions: unknown) =>
      this.#isDryRun
        ? prompts.isKnown(this.#pairKey, instructions, this.#ttlMs)
        : prompts.recordUse(this.#pairKey, instructions, this.#ttlMs)
    if (singlePrompt && !isKnown(singlePrompt.instructions)) {
      this.#skipReason = 'single'
      return {}
    }
    const fields = addBreakpoints(body, breakpoints, {
      ttl: this.#ttl,
      isPassThrough,
      onlyInstructions: singlePrompt !== undefined,
    })
    this.#hasBreakpoints = Object.keys(fields).length > 0
    return fields
  }

  /**
   * If the target rejects the added fields, repeats the request once as the client sent it. If that succeeds, requests to the target stay unchanged
   * for an hour.
   */
  #retryWithoutFields(changedCodec: Codec, encode: Encode): Codec {
    return {
      ...changedCodec,
      followUp: async (response) => {
        const hasClientBreakpoints = this.#skipReason === 'client' // the gateway then added only the key
        if (
          response.kind !== 'failure' ||
          !isRejectedFor(response, hasClientBreakpoints ? KEY_ERROR : BREAKPOINT_ERROR)
        ) {
          const nextCodec = await changedCodec.followUp?.(response)
          return nextCodec && this.#retryWithoutFields(nextCodec, encode)
        }
        this.#isRetry = true
        this.#hasBreakpoints = false
        if (!hasClientBreakpoints) this.#skipReason = 'rejected'
        return encode(this.#attempt.request)
      },
    }
  }
}

const getTargetKey = ({ connection, provider, model }: RouteTarget) => `${connection.id} ${provider}/${model}`

function isRejectedFor({ head, failure }: FailedResponse, reason: RegExp): boolean {
  const text = failure.body ? new TextDecoder().decode(failure.body) : failure.message
  return (head?.status === 400 || head?.status === 422) && reason.test(text)
}

const BREAKPOINT_FIELDS = ['cache_control', 'cachePoint', 'prompt_cache_breakpoint']

/**
 * Lists the paths of everything that has a breakpoint, such as `tools[3]` and `messages[4].content[0]`. The path is `cache_control` for the entire
 * request.
 */
function listBreakpointPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => listBreakpointPaths(item, `${path}[${index}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    if (BREAKPOINT_FIELDS.includes(name)) return [path || name]
    return listBreakpointPaths(inner, path === '' ? name : `${path}.${name}`)
  })
}
