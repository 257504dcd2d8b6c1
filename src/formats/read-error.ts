import { isObject } from '../lib/json.ts'
import type { ProviderFormat } from '../types.ts'
import { readError as readConverseError } from './bedrock-converse/error.ts'
import { readVendorError } from './read-vendor-error.ts'

/** What an error body says to who speaks the format: message and code. */
export function readError(format: ProviderFormat, body: unknown): { message?: string; code?: string } {
  if (format === 'bedrock-converse') return readConverseError(body)
  const said = readVendorError(body)
  if (format !== 'gemini') return said
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
  return { ...said, ...(typeof error?.status === 'string' && { code: error.status }) }
}
