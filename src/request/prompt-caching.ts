import { gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { CachingPause, ColdSession, StandDownReason } from '../types/caching-types.ts'
import type { PromptCaching } from '../types.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Codec, CodecRequest } from './codec/codec.ts'
import type { AttemptRecord } from './hook-records.ts'
import type { ModelRequest } from './model-request.ts'
import type { CacheExplanation } from './routing/explanation.ts'
import type { Route } from './routing/group.ts'

/** What a provider's prompt cache did for an attempt. */
export interface PromptCacheRecord {
  /** Who asked for the caching: the gateway, the client by its own marks, or nobody, so that the provider did it on its own. */
  by: 'gateway' | 'client' | 'provider'
  /** Input tokens read from the cache. */
  read: number
  /** Input tokens written to the cache. */
  written: number
  /** What caching saved in US dollars; negative if the writes cost more than the reads saved. Absent if a price is unknown. */
  savedUsd?: number
  /** Why the gateway placed no marks. */
  stoodDown?: StandDownReason
  /** Whether the session was served by another target or account before. */
  moved?: true
}

/** Asks providers to cache prompts, for requests with `promptCaching: 'auto'`. */
export interface PromptCacher {
  /** Encodes the request of an attempt with marks, where they pay. `encode` may be called again, without marks. */
  encode(attempt: CachedAttempt, encode: Encode): Promise<Codec>
  /** Explains how `encode` would mark the request. Changes nothing. */
  explain(attempt: ExplainedAttempt, encode: Encode): Promise<CacheExplanation>
  /** Returns the callers and targets that get no marks for a while, because marks didn't pay off. */
  listPauses(): CachingPause[]
  /** Returns the recent sessions that read less than 20% of their input from the cache. */
  listColdSessions(): ColdSession[]
  /** Puts the target that last served the request's session first, if it is healthy. Returns the same routes otherwise. */
  prefer(request: ModelRequest, routes: RouteIterator): RouteIterator
}

export type Encode = (request: CodecRequest) => Promise<Codec>
/** The routes of a request, in the order in which to try them. */
export type RouteIterator = AsyncIterator<Route, undefined> | Iterator<Route, undefined>

/** An attempt at a target whose prompts may be cached. */
export interface CachedAttempt extends ExplainedAttempt {
  readonly log: Pick<AttemptLog, 'isHedge' | 'reportCache'>
}

/** An attempt that may only be explained. */
export interface ExplainedAttempt {
  readonly request: CodecRequest
  readonly route: Route
  readonly log: Pick<AttemptLog, 'isHedge'>
  readonly mode: Exclude<PromptCaching, 'off'>
}

/** Creates the cache report of an attempt when it has settled. */
export type CacheReport = (settled: AttemptRecord) => PromptCacheRecord | undefined

/** The prompt cacher, which the first request that needs it loads. */
export interface LazyPromptCacher {
  /** `undefined` until it is loaded. */
  loaded?: PromptCacher
  load(): Promise<PromptCacher>
}

/** The parts of a request that decide how its prompts are cached. */
type CachingTerms = Pick<ModelRequest, 'settings' | 'call'> & {
  exchange: Pick<Exchange, 'header'>
  log: Pick<ModelRequest['log'], 'caller'>
}

/** Returns how an attempt's prompts are cached; `undefined` if they aren't. The key decides, else the
 * account, the key's group, the account's plan, the entry, the connection, or the settings. */
export function getCachingMode(
  { log, settings, exchange, call }: CachingTerms,
  { target }: Route,
): CachedAttempt['mode'] | undefined {
  const { connection, promptCaching = connection.promptCaching ?? settings.promptCaching } = target
  const { key, account } = log.caller
  const ofOwner = key?.promptCaching ?? account?.promptCaching ?? key?.group?.promptCaching
  const mode = ofOwner ?? account?.plan?.promptCaching ?? promptCaching
  if (!mode || mode === 'off' || call.endpoint.operation.name !== 'generate') return undefined
  return exchange.header(HEADER) === 'off' ? undefined : mode
}

/** Throws `INVALID_REQUEST` if the header has an unknown value. */
export function checkCachingHeader(exchange: Pick<Exchange, 'header'>): void {
  const value = exchange.header(HEADER)
  if (value !== undefined && value !== 'off' && value !== 'auto')
    throw gatewayError('INVALID_REQUEST', {
      message: `${HEADER} must be "off" (no prompt caching for this request) or "auto" (as configured).`,
    })
}

/** Encodes the request of an attempt, with cache marks if its prompts are cached. */
export function encodeForCache(
  attempt: Omit<CachedAttempt, 'mode' | 'request'> & { request: ModelRequest },
  encode: Encode,
): Promise<Codec> {
  const { request, route } = attempt
  const mode = getCachingMode(request, route)
  if (!mode) return encode(request)
  return request.context.promptCacher.load().then((cacher) => cacher.encode({ ...attempt, mode }, encode))
}

/** The header with which a request turns prompt caching off. */
const HEADER = 'x-signalbox-prompt-caching'
