import { countTrailing } from './count-at-end.ts'
import type { Match } from './word-finder.ts'

/** Types of personal data with a recognizable format. People's names don't have one. */
export const piiTypes = ['email', 'card', 'iban', 'ssn', 'phone', 'ip'] as const
export type PiiType = (typeof piiTypes)[number]

interface Detector {
  /** Matches in linear time. */
  readonly pattern: RegExp
  isValid?(matchedText: string): boolean
}

const detectors: Readonly<Record<PiiType, Detector>> = {
  email: {
    pattern: /(?<![\w.+-])[\w][\w.+-]{0,63}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.){1,8}[a-z]{2,24}(?![\w-])/gi,
  },
  card: { pattern: /(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])/g, isValid: passesLuhnCheck },
  iban: {
    pattern: /(?<![A-Z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?![A-Z\d])/gi,
    isValid: passesIbanCheck,
  },
  ssn: { pattern: /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g },
  phone: {
    pattern:
      /(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,5}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-])/g,
    isValid: (matchedText) => /^\D*(?:\d\D*){7,15}$/.test(matchedText),
  },
  ip: {
    pattern:
      /(?<![\w.:])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|(?:[a-f\d]{1,4}:){2,7}(?::?[a-f\d]{1,4}){1,6}|(?:[a-f\d]{1,4}:){7}[a-f\d]{1,4})(?![\w.]*[\w:])/gi,
    isValid: (matchedText) => matchedText.includes('.') || URL.canParse(`http://[${matchedText}]`),
  },
}

/** Finds personal data of these types. */
export function findPii(text: string, types: readonly PiiType[], isPiece: boolean): Match[] {
  return types.flatMap((type) => {
    const { pattern, isValid } = detectors[type]
    const matches: Match[] = []
    for (const { 0: matchedText, index: start } of text.matchAll(pattern)) {
      const end = start + matchedText.length
      if (isPiece && end === text.length) continue // the next piece may extend the match
      if (isValid?.(matchedText) ?? true) matches.push({ start, end, type: type.toUpperCase() })
    }
    return matches
  })
}

/** Returns the length of a possibly unfinished match at the end of a string: a word, or a number or IBAN with spaces. */
export const measurePartialPii = (text: string): number =>
  countTrailing(
    text,
    (unit, index) => WORD_PATTERN.test(unit) || (unit === ' ' && NUMBER_PATTERN.test(text.charAt(index - 1))),
  )

const WORD_PATTERN =
  /[\w.+@:()\u00ad\u00c0-\u052f\u200b-\u200f\u2060-\u2064\ufeff\uff01-\uff5e\ud800-\udfff\p{Nd}&#;%\\-]/u
const NUMBER_PATTERN = /[\dA-Z)]/

function passesLuhnCheck(matchedText: string): boolean {
  const digits = matchedText.replace(/\D/g, '')
  if (/^(\d)\1*$/.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = digit * 2
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

function passesIbanCheck(matchedText: string): boolean {
  const iban = matchedText.replaceAll(' ', '').toUpperCase()
  if (iban.length < 15 || iban.length > 34) return false
  let remainder = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}
