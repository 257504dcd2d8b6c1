import * as v from 'valibot'
import { anyObject, closed, fields, noList, parseInput } from '../../admin/input.ts'
import { findRecord, present } from '../../admin/record-operations.ts'
import type { GatewayError } from '../../errors.ts'
import { getKeyRejection } from '../../records/key-format.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { type Caller, getKeyCaller } from '../../request/caller.ts'
import type { Pipeline } from '../../request/pipeline.ts'
import type { Explanation } from '../../request/routing/explanation.ts'
import type { RefusalPreview } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import type { Question } from './route-explanation.ts'

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

export interface ExplainDependencies {
  pipeline: Pick<Pipeline, 'getContext'>
  /** Returns what a caller may use. */
  getAccess(caller: Caller): Promise<Question['access']>
  /** Tells why the limits of a caller would reject a request. */
  previewLimits(caller: Caller): Promise<RefusalPreview>
  store: WritableStore
  clock: Clock
}

export function createExplain({ pipeline, getAccess, previewLimits, store, clock }: ExplainDependencies) {
  async function explain(question: Question): Promise<Explanation> {
    const { explainQuestion } = await import('./route-explanation.ts')
    const { key } = question
    if (!key) return explainQuestion(question, pipeline.getContext())
    const caller = getKeyCaller(key)
    const [access, refusalOf] = await Promise.all([getAccess(caller), previewLimits(caller)])
    return explainQuestion({ ...question, access, refusalOf }, pipeline.getContext())
  }

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
