import * as v from 'valibot'
import { anyObject, closed, fields, noList, parseInput } from '../../admin/input.ts'
import { findRecord, present } from '../../admin/record-operations.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { getKeyRejection } from '../../records/key-format.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import type { Explanation } from '../../request/routing/explanation.ts'
import type { Clock } from '../../types.ts'

/** A request to explain; it isn't sent. */
export interface ExplainedRequest {
  /** A listed model name, an alias, or a combo. */
  model: string
  /** The request body; default: one without messages. Its `model` is ignored. */
  body?: object
  /** Headers by name; names are case-insensitive. */
  headers?: Record<string, string>
  /** The request path; default `/v1/chat/completions`. Other paths than model endpoints fail with `INVALID_REQUEST`. */
  path?: string
  /** ID of the API key to explain the request for, with its allowed models, kinds, and limits. Default: no key. */
  keyId?: string
}

/** A request to explain, with its defaults filled in and header names in lowercase. */
export interface Explainable {
  model: string
  body: JsonObject
  headers: ReadonlyMap<string, string>
  path: string
  key?: ClientKey | undefined
}

const HEADERS = 'must be an object that maps header names to strings'

export const explainInput = closed({
  model: fields.model,
  body: v.exactOptional(anyObject('must be an object (the request body)')),
  headers: v.exactOptional(v.pipe(noList(HEADERS), v.record(v.string(), v.string('must be a string'), HEADERS))),
  path: v.exactOptional(fields.text),
  keyId: v.exactOptional(fields.text),
})

/** Explains how a request would be routed. */
export type Explain = (request: ExplainedRequest) => Promise<Explanation>

interface ExplainDependencies {
  /** Throws `INVALID_REQUEST` if the path isn't a model endpoint. */
  explain(request: Explainable): Promise<Explanation>
  store: WritableStore
  clock: Clock
}

export function createExplain({ explain, store, clock }: ExplainDependencies) {
  return async (request: unknown): Promise<Explanation> => {
    const { model, body = {}, headers = {}, path = '/v1/chat/completions', keyId } = parseInput(explainInput, request)
    const headerMap = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const explainable = { model, body, headers: headerMap, path }
    if (keyId === undefined) return explain(explainable)
    const { id: digest } = await findRecord(store.keys, 'Key', ({ id }) => id === keyId)
    const key = present(await store.keyLookup.read(digest), 'Key')
    const rejection = getKeyRejection(key, clock.now())
    if (rejection) return { model, targets: [], leftOut: [], error: formatError(rejection) }
    return explain({ ...explainable, key })
  }
}

const formatError = ({ status, code, message }: GatewayError) => ({ status, code, message })
