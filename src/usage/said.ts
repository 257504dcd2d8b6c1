import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { likelyTokens } from './text-tokens.ts'

/**
 * An estimate of the tokens that a model has said, in a part of an answer: of the texts within the members of these names. What is nested deeper than
 * any answer has it says nothing.
 */
export function saidTokens(value: unknown, names: readonly string[], isWithin = false, depth = 0): number {
  if (typeof value === 'string') return isWithin ? likelyTokens(value) : 0
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return 0
  let tokens = 0
  if (Array.isArray(value)) for (const one of value) tokens += saidTokens(one, names, isWithin, depth + 1)
  else
    for (const [name, inner] of Object.entries(value))
      if (!NOT_SAID.has(name)) tokens += saidTokens(inner, names, isWithin || names.includes(name), depth + 1)
  return tokens
}

/** Answers may nest 10,000 levels (lib/json.ts), which no stack of calls has room for. */
const DEEPEST = 64

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
