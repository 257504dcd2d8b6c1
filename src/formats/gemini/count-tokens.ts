import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { count } from '../count.ts'
import type { ParseContext, TargetContext, WrittenRequest } from '../translator.ts'
import { camelCased } from './camel-case.ts'
import { modelPath } from './endpoints.ts'
import { parseRequest } from './request-parse.ts'
import { writeBody } from './request-write.ts'

/** A client's `countTokens`: the contents alone, or a whole request within. */
export function parseCountRequest(json: JsonObject, context: ParseContext): CanonicalRequest {
  const { generateContentRequest: whole } = camelCased(json)
  return parseRequest(isObject(whole) ? whole : json, context)
}

/** The question to a provider. Beside bare contents it takes nothing but a whole request, which names its model once more. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const path = modelPath(target.model)
  const whole = writeBody(request, target)
  const isBare = Object.keys(whole).every((name) => name === 'contents')
  const body = isBare ? whole : { generateContentRequest: { model: path.slice(1), ...whole } }
  return { path: `${path}:countTokens`, headers: {}, body }
}

/** What a provider counted; undefined when it did not say. */
export function parseCount(answer: unknown): number | undefined {
  return isObject(answer) && typeof answer.totalTokens === 'number' ? count(answer.totalTokens) : undefined
}

/** A count as a client reads it. */
export const writeCount = (tokens: number): JsonObject => ({ totalTokens: tokens })
