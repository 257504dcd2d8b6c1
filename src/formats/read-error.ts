import { isObject, type JsonObject } from '../lib/json.ts'
import type { ProviderFormat } from '../types.ts'
import { readError as readConverseError } from './bedrock-converse/error.ts'
import { readVendorError } from './read-vendor-error.ts'

/** Message and code of a provider's error body, each only if it has one. */
export function readError(format: ProviderFormat, body: unknown): { message?: string; code?: string } {
  if (format === 'bedrock-converse') return readConverseError(body)
  const said = readVendorError(body)
  if (format !== 'gemini') return said
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
  return { ...said, ...(typeof error?.status === 'string' && { code: error.status }) }
}

/** The body that a provider of the format would have sent with an error status, for an error object found in a 200 or in a stream. */
export function errorBodyOf(format: ProviderFormat, error: JsonObject): JsonObject {
  if (format === 'anthropic-messages') return { type: 'error', error }
  if (format === 'bedrock-converse') return error
  const { type, sequence_number: _, ...rest } = error // an error event of Responses holds what an error object does
  return { error: type === 'error' ? rest : error }
}
