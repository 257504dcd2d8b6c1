import { entryOf } from '../lib/entry-of.ts'
import type { ErrorFacts } from './format.ts'

/** OpenAI's error body. Internal errors have the shape of spec.md, Errors. */
export function openaiErrorBody({ status, code, message, param }: ErrorFacts): object {
  if (status === 500) return { error: { message, type: typeOf(status) } }
  return {
    error: { message, type: typeOf(status), param: param ?? null, code: codeOf(status, code) },
  }
}

/** The `code`: for a provider's failure the one of its status, if clients act on it. */
function codeOf(status: number, code: string): string | null {
  if (code === 'UPSTREAM_FAILED' && status < 500) return codesByStatus[status] ?? null
  return entryOf(codes, code) ?? code.toLowerCase()
}

const codesByStatus: Record<number, string> = { 404: 'model_not_found', 429: 'rate_limit_exceeded' }

/** The `type` of an error with this status. */
export function typeOf(status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return 'invalid_request_error'
}

/** The codes that OpenAI's clients know, by the gateway's own. */
const codes: Record<string, string> = {
  CONTEXT_OVERFLOW: 'context_length_exceeded',
  KEY_MISSING: 'invalid_api_key',
  KEY_UNKNOWN: 'invalid_api_key',
  MODEL_NOT_FOUND: 'model_not_found',
}
