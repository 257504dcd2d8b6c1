import { CREDENTIAL_PATTERNS, JWT_PATTERN } from '../../../lib/credential-shapes.ts'
import { redactEncoded } from '../../../lib/encoded-texts.ts'
import { countTrailing } from './count-at-end.ts'
import type { Match } from './word-finder.ts'

/**
 * Finds credentials: keys with vendor prefixes, tokens, private keys, and passwords in URLs, even if they are encoded in base64, hex, or
 * percent-encoding.
 */
export function findSecrets(text: string): Match[] {
  const matches: Match[] = []
  const addMatch = (start: number, matchedText: string) =>
    matches.push({ start, end: start + matchedText.length, type: 'SECRET' })
  for (const pattern of CREDENTIAL_PATTERNS)
    for (const { 0: matchedText, 1: prefix = '', index } of text.matchAll(pattern))
      addMatch(index + prefix.length, matchedText.slice(prefix.length))
  for (const { 0: matchedText, index } of text.matchAll(JWT_PATTERN))
    if (matchedText.includes('.')) addMatch(index, matchedText)
  if (text.length <= MAX_DECODED_LENGTH)
    for (const { 0: word, index } of text.matchAll(WORD_PATTERN))
      if (redactEncoded(word, isSecret) !== word) addMatch(index, word)
  return matches
}

const MAX_DECODED_LENGTH = 1024 * 1024
const WORD_PATTERN = /[A-Za-z0-9+/_=~.%-]{16,}/g

const isSecret = (text: string): boolean => CREDENTIAL_PATTERNS.some((pattern) => text.search(pattern) !== -1)

/** Returns the length of an unfinished private key or, without one, of the last word, because the next piece may continue it. */
export function measurePartialSecret(text: string): number {
  const keyStart = text.lastIndexOf('-----BEGIN ')
  if (keyStart !== -1 && !text.includes('-----END ', keyStart)) return text.length - keyStart
  const wordLength = countTrailing(text, (unit) => SECRET_CHARACTER_PATTERN.test(unit), MAX_UNFINISHED_LENGTH)
  const start = text.length - wordLength
  const scheme = SCHEME_PATTERN.exec(text.slice(Math.max(0, start - 'bearer'.length - 4), start))
  return wordLength + (scheme?.[0].length ?? 0)
}

const MAX_UNFINISHED_LENGTH = 1_000
const SECRET_CHARACTER_PATTERN =
  /[\w.~+/=%@:&#;\\\u00ad\u00c0-\u052f\u200b-\u200f\u2060-\u2064\ufeff\uff01-\uff5e\ud800-\udfff-]/
const SCHEME_PATTERN = /(?:bearer|basic) {1,4}$/i
