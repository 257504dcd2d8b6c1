import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { likelyTokens } from './text-tokens.ts'

/** An estimate of the tokens that a model has said, in a part of an answer: of the texts within the members of these names. */
export function saidTokens(value: unknown, names: readonly string[], isWithin = false): number {
  if (typeof value === 'string') return isWithin ? likelyTokens(value) : 0
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + saidTokens(one, names, isWithin), 0)
  return Object.entries(value).reduce((sum, [name, inner]) => {
    if (NOT_SAID.has(name)) return sum
    return sum + saidTokens(inner, names, isWithin || names.includes(name))
  }, 0)
}

/** The same for whole server-sent events. */
export function streamedTokens(events: Uint8Array, names: readonly string[]): number {
  let tokens = 0
  const parser = createSseParser(({ data }) => {
    tokens += saidTokens(tryParseJson(data), names)
  })
  parser.push(decodeUtf8Lenient(events))
  parser.end()
  return tokens
}

/** What stands beside texts in the parts of an answer: words and ids of the format, and what is signed. */
const NOT_SAID = new Set([
  'type',
  'id',
  'call_id',
  'signature',
  'thoughtSignature',
  'format',
  'annotations',
  'citations',
])
