import * as v from 'valibot'
import type { JsonObject } from '../lib/json.ts'
import type { Explanation } from '../routing/explanation.ts'
import { anyObject, closed, fields, noList, parseInput } from './input.ts'

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
}

/** A request to explain with its defaults filled in, and header names in lower case. */
export interface Explainable {
  model: string
  body: JsonObject
  headers: ReadonlyMap<string, string>
  path: string
}

const HEADERS = 'must be an object of texts by header name'

export const explainInput = closed({
  model: fields.model,
  body: v.exactOptional(anyObject('must be an object: the body of the request')),
  headers: v.exactOptional(v.pipe(noList(HEADERS), v.record(v.string(), v.string('must be text'), HEADERS))),
  path: v.exactOptional(fields.text),
})

/** `explain` refuses paths that are no model endpoint. */
export const createExplain =
  (explain: (request: Explainable) => Promise<Explanation>) =>
  async (request: unknown): Promise<Explanation> => {
    const { model, body = {}, headers = {}, path = '/v1/chat/completions' } = parseInput(explainInput, request)
    const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    return explain({ model, body, headers: named, path })
  }
