import * as v from 'valibot'
import { type GatewayError, gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Explanation } from '../routing/explanation.ts'
import { refusalOfKey } from '../store/client-key.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { Clock, LimitState } from '../types.ts'
import { anyObject, closed, fields, noList, parseInput } from './input.ts'
import { findRecord, present } from './records.ts'

/** A request to explain; it is not made. */
export interface ExplainedRequest {
  /** A model name from the listing, an alias or a combo. */
  model: string
  /** The request's body; default: one without messages. A `model` in it is ignored. */
  body?: object
  /** Its headers by name, in any case. */
  headers?: Record<string, string>
  /** Its path; default `/v1/chat/completions`. A path that is no model endpoint is an `INVALID_REQUEST`. */
  path?: string
  /**
   * The id of the API key of the request: the explanation then covers what the key is not allowed to do and which of its limits are used up. Default:
   * no key.
   */
  keyId?: string
}

/** A request to explain with its defaults filled in, and header names in lower case. */
export interface Explainable {
  model: string
  body: JsonObject
  headers: ReadonlyMap<string, string>
  path: string
  key?: PresentedKey | undefined
}

const HEADERS = 'must be an object of texts by header name'

export const explainInput = closed({
  model: fields.model,
  body: v.exactOptional(anyObject('must be an object: the body of the request')),
  headers: v.exactOptional(v.pipe(noList(HEADERS), v.record(v.string(), v.string('must be text'), HEADERS))),
  path: v.exactOptional(fields.text),
  keyId: v.exactOptional(fields.text),
})

interface ExplainDependencies {
  /** Refuses paths that are no model endpoint. */
  explain(request: Explainable): Promise<Explanation>
  store: WritableStore
  clock: Clock
  /** All limits that hold for the key of this id, as they stand. */
  limitsOf(keyId: string): Promise<{ limits: LimitState[] }>
}

export function createExplain({ explain, store, clock, limitsOf }: ExplainDependencies) {
  return async (request: unknown): Promise<Explanation> => {
    const { model, body = {}, headers = {}, path = '/v1/chat/completions', keyId } = parseInput(explainInput, request)
    const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const question = { model, body, headers: named, path }
    if (keyId === undefined) return explain(question)
    const { id: digest } = await findRecord(store.keys, 'Key', ({ id }) => id === keyId)
    const key = present(await store.keyring.read(digest), 'Key')
    const refusal = refusalOfKey(key, clock.now())
    if (refusal) return { model, targets: [], leftOut: [], error: shown(refusal) }
    const explanation = await explain({ ...question, key })
    if (explanation.error) return explanation
    const usedUp = (await limitsOf(keyId)).limits.find(({ remaining }) => remaining <= 0)
    return usedUp ? { ...explanation, error: shown(refusalOfLimit(usedUp)) } : explanation
  }
}

const shown = ({ status, code, message }: GatewayError) => ({ status, code, message })

/** What the client of a request reads when a limit is used up. */
function refusalOfLimit({ scope, unit, window, limit, resetsAt }: LimitState): GatewayError {
  const isBudget = (unit === 'tokens' || unit === 'usd') && window !== 'minute' && window !== 'hour'
  const name = window === null ? unit : `${unit}.${window}`
  const until = resetsAt === null ? '' : ` until ${resetsAt}`
  return gatewayError(isBudget ? 'BUDGET_EXCEEDED' : 'RATE_LIMIT_EXCEEDED', {
    message: `The limit "${name}" of the ${scope}, which is ${limit}, is used up${until}.`,
  })
}
