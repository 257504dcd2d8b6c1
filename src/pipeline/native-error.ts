import { isObject } from '../lib/json.ts'
import type { WireFormat } from '../types.ts'

/** Is this error body one that clients of the format can read? */
export function isErrorOf(format: WireFormat, body: unknown): boolean {
  const envelope: unknown = format === 'gemini' && Array.isArray(body) ? body[0] : body
  if (!isObject(envelope) || !isObject(envelope.error) || typeof envelope.error.message !== 'string') return false
  if (format === 'anthropic-messages') return envelope.type === 'error' && typeof envelope.error.type === 'string'
  return format !== 'gemini' || typeof envelope.error.code === 'number'
}
