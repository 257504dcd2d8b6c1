import { toBase64Url } from '../../lib/bytes.ts'
import { hashText } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import { insertFirstMember, scanTopLevel, withoutMember } from '../../lib/json-scan.ts'
import { createExpiringMap, evictOldest } from '../../lib/maps.ts'
import { parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import type { Store } from '../../records/store.ts'
import type { Codec } from '../../request/codec/codec.ts'
import type { FailedResponse } from '../../request/codec/response.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import type { CachedAttempt, CacheReport, PromptCacher, StandDownReason } from '../../request/prompt-caching.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import { calculateSavings } from './cache-savings.ts'
import { type CacheSupport, getCacheSupport } from './cache-support.ts'
import { findSinglePrompt, type MarkedFields, markRequest } from './mark-places.ts'
import { createPauses } from './pauses.ts'
import { SessionTargets } from './session-targets.ts'

interface PromptCacherDependencies {
  store: Pick<Store, 'keyring'>
  catalog: Catalog
  clock: Clock
  logger: Logger | undefined
}

const HOUR = 60 * 60_000
const MAX_TARGETS = 1_000
const MAX_PROMPTS = 10_000
const CHARACTERS_PER_TOKEN = 4

/** The fields with which clients set marks or choose a cached prompt. They can't occur in a string, where quotes are escaped. */
const CLIENT_MARKS =
  /"(?:cache_?control|cacheControl|cachePoint|prompt_cache_breakpoint|promptCacheBreakpoint|prompt_cache_options|promptCacheOptions|cached_?[cC]ontent)"\s*:/

/** An error about marks. */
const MARK_ERROR = /cache_control|cachePoint|cache point|prompt_cache/i

/** Creates the prompt cacher of a gateway. Everything that it learns stays in memory. */
export function createPromptCacher({ store, catalog, clock, logger }: PromptCacherDependencies): PromptCacher {
  const sessions = new SessionTargets(clock)
  const pauses = createPauses({ clock, logger })
  const rejecting = createExpiringMap<true>({ clock, ttlMs: HOUR, max: MAX_TARGETS })
  /** When each prompt without tools was last sent. */
  const lastUses = new Map<string, number>()

  /** Hashes the session, so that the provider never learns the client's own name for it. The same in all instances. */
  async function createSessionKey(request: ModelRequest): Promise<string | undefined> {
    const session = sessions.getSession(request)
    if (session === '') return undefined
    const keyring = await store.keyring()
    const hash = await keyring.hashForLookup(`prompt-caching\0${request.owner}\0${session}`)
    return toBase64Url(hash).slice(0, 22)
  }

  /** Returns whether the same instructions were sent before, within their lifetime, and remembers them. */
  function isKnownPrompt(owner: string, instructions: unknown, ttlMs: number): boolean {
    const text = `${owner}\0${JSON.stringify(instructions)}`
    const key = `${hashText(text)} ${hashText(text, 0x5bd1e995)}`
    const before = lastUses.get(key)
    if (!lastUses.delete(key)) evictOldest(lastUses, MAX_PROMPTS)
    lastUses.set(key, clock.now()) // now the newest
    return before !== undefined && before > clock.now() - ttlMs
  }

  function findObstacle(
    { request, log, route }: CachedAttempt,
    { marks, takesKey, sessionHeader, minTokens }: CacheSupport,
  ): StandDownReason | undefined {
    const { text } = request.call
    if (CLIENT_MARKS.test(text)) return 'client'
    if (log.isHedge) return 'hedge'
    if (!marks && !takesKey && !sessionHeader) return 'unsupported'
    if (text.length < minTokens * CHARACTERS_PER_TOKEN) return 'short'
    return rejecting.get(getTargetKey(route.target)) && 'rejected'
  }

  return {
    prefer: (request, routes) => sessions.prefer(request, routes),
    async encode(attempt, encode) {
      const { request, route, log, mode } = attempt
      const { target } = route
      const support = getCacheSupport(target)
      const ttl = mode === 'auto' ? undefined : mode.ttl
      const before = sessions.find(request)
      const pair = `${request.owner} ${getTargetKey(target)}`
      let stoodDown = findObstacle(attempt, support)
      let isMarked = false
      const isMoved =
        before !== undefined && (before.connectionId !== target.connection.id || before.model !== target.model)

      const report: CacheReport = ({ outcome, usage }) => {
        if (outcome === 'answered') sessions.note(request, target, ttl === '1h' ? HOUR : support.ttlMs)
        if (!usage) return undefined
        const { cacheReadTokens: read = 0, cacheWriteTokens: written = 0 } = usage
        const savedUsd = calculateSavings(usage, target, catalog)
        if (isMarked && savedUsd !== undefined) pauses.note(pair, { written, savedUsd })
        return {
          by: isMarked ? 'gateway' : stoodDown === 'client' ? 'client' : 'provider',
          read,
          written,
          ...(savedUsd !== undefined && { savedUsd }),
          ...(stoodDown && { stoodDown }),
          ...(isMoved && { moved: true as const }),
        }
      }
      log.reportCache = report
      if (stoodDown) return encode(request)

      /** Returns the fields to change in a body, in the target's terms. */
      function getFields(body: JsonObject, isPassThrough: boolean): MarkedFields {
        const { marks } = support
        if (!marks) return {}
        if (pauses.isPaused(pair, sessions.getSession(request))) {
          stoodDown = 'unprofitable'
          return marks.form === 'breakpoint' ? { prompt_cache_options: { mode: 'explicit' } } : {} // otherwise the provider writes on its own
        }
        const single = findSinglePrompt(body)
        const isKnown = single && isKnownPrompt(pair, single.instructions, ttl === '1h' ? HOUR : support.ttlMs)
        if (single && !isKnown) {
          stoodDown = 'single'
          return {}
        }
        const fields = markRequest(body, marks, { ttl, isPassThrough, onlyInstructions: single !== undefined })
        isMarked = Object.keys(fields).length > 0
        return fields
      }

      const key = support.takesKey || support.sessionHeader ? await createSessionKey(request) : undefined
      const addKey = (fields: MarkedFields, body: JsonObject): MarkedFields =>
        support.takesKey && key !== undefined && body.prompt_cache_key === undefined
          ? { ...fields, prompt_cache_key: key }
          : fields
      const addMarks = (body: JsonObject) => mergeFields(body, addKey(getFields(body, false), body))
      const codec = await encode({ ...request, addMarks })
      if (codec.isPassThrough && typeof codec.request.body === 'string') {
        const { call } = request
        const body = parseExactObject(call.text, call.body)
        const fields = addKey(getFields(body, true), body)
        if (Object.keys(fields).length > 0) codec.request.body = writeFields(codec.request.body, fields)
      }
      if (support.sessionHeader && key !== undefined)
        codec.request.headers = { [support.sessionHeader]: key, ...codec.request.headers }
      return isMarked ? retryWithoutMarks(codec) : codec

      /** Repeats the request once without marks if the target rejects them, and doesn't mark its requests for an hour. */
      function retryWithoutMarks(marked: Codec): Codec {
        return {
          ...marked,
          async followUp(received) {
            if (received.kind !== 'failure' || !rejectsMarks(received)) {
              const next = await marked.followUp?.(received)
              return next && retryWithoutMarks(next)
            }
            rejecting.set(getTargetKey(target), true)
            isMarked = false
            stoodDown = 'rejected'
            return encode(request)
          },
        }
      }
    },
  }
}

const getTargetKey = ({ connection, provider, model }: RouteTarget) => `${connection.id} ${provider}/${model}`

function rejectsMarks({ head, failure }: FailedResponse): boolean {
  const text = failure.body ? new TextDecoder().decode(failure.body) : failure.message
  return (head?.status === 400 || head?.status === 422) && MARK_ERROR.test(text)
}

/** Sets fields of a body in their positions, and adds new ones last. */
function mergeFields(body: JsonObject, fields: MarkedFields): JsonObject {
  const merged: JsonObject = { ...body, ...fields }
  for (const [name, value] of Object.entries(fields)) if (value === undefined) delete merged[name]
  return merged
}

/** Sets fields of a JSON text in their positions, and adds new ones first. Keeps all other characters. */
function writeFields(text: string, fields: MarkedFields): string {
  const names = Object.keys(fields)
  const added = new Set(names)
  let written = ''
  let at = 0
  for (const { start, end } of scanTopLevel(text, names).spans) {
    const nameEnd = text.lastIndexOf('"', start - 1)
    const name: string = JSON.parse(text.slice(text.lastIndexOf('"', nameEnd - 1), nameEnd + 1)) // none of the names contains a quote
    added.delete(name)
    if (fields[name] === undefined) continue
    written += text.slice(at, start) + JSON.stringify(fields[name])
    at = end
  }
  const whole = [...added].reduce(
    (body, name) =>
      fields[name] === undefined ? body : insertFirstMember(body, `"${name}":${JSON.stringify(fields[name])}`),
    written + text.slice(at),
  )
  return names.reduce((body, name) => (fields[name] === undefined ? withoutMember(body, name) : body), whole)
}
