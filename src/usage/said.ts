import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { likelyTokens } from './text-tokens.ts'

/**
 * An estimate of the output tokens in a part of an answer, from the texts within members of these names. Texts that are nested deeper than in any
 * real answer are not counted.
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

/** Members beside the texts in parts of an answer that are no output: keywords and ids of the format, and signatures. */
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
