import { guardKinds } from '../../types/records/guard-fields.ts'
import type { Guard } from './guard.ts'
import { checkOptions, type GuardSettings } from './guard-shapes.ts'
import { type ChangeRules, createChangeGuard } from './kinds/change-guard.ts'
import { findHidden, measureFolded, measureHidden } from './kinds/find-hidden.ts'
import { createFindingGuard, type FindingOptions } from './kinds/finding-guard.ts'
import { createHttpGuard, type HttpRules } from './kinds/http-guard.ts'
import { findInvisible, measurePartialInvisible } from './kinds/invisible-finder.ts'
import { createJudgeGuard, createModerationGuard, type JudgeRules, type ModerationRules } from './kinds/model-guards.ts'
import { createPatternFinder, type PatternLibrary } from './kinds/pattern-finder.ts'
import { findPii, measurePartialPii, type PiiType, piiTypes } from './kinds/pii-finder.ts'
import { createSizeGuard, createToolGuard, type SizeRules, type ToolRules } from './kinds/request-guards.ts'
import { findSecrets, measurePartialSecret } from './kinds/secret-finder.ts'
import { createWordFinder } from './kinds/word-finder.ts'

export type {
  ChangeRules,
  FindingOptions,
  Guard,
  GuardSettings,
  HttpRules,
  JudgeRules,
  ModerationRules,
  PiiType,
  SizeRules,
  ToolRules,
}

/**
 * Finds words and phrases, ignoring case. A `*` at either end of a word matches any other letters there. Look-alike letters, styled letters, and
 * invisible characters can't hide a word.
 */
export function words({
  words: wordList,
  ...options
}: GuardSettings & FindingOptions & { words: readonly string[] }): Guard {
  checkOptions('words', { ...options, ...(wordList && { words: wordList }) })
  const finder = createWordFinder(wordList)
  return createFindingGuard(options, {
    find: finder.find,
    measurePartialMatch: finder.measurePartialMatch,
    screen: finder,
  })
}

/** Patterns to search for. */
export interface PatternRules {
  /** Regular expressions in RE2 syntax, which has no look-around and no back-references. */
  readonly patterns: readonly string[]
  /** `i` ignores case, `m` makes `^` and `$` match at line breaks, and `s` makes `.` match line breaks. Default: none. */
  readonly flags?: 'i' | 'm' | 's' | 'im' | 'is' | 'ms' | 'ims'
}

/**
 * Finds matches of regular expressions in RE2 syntax, in linear time. In streams, holds back the last `maxMatch` characters (default: 256). Rejects
 * with a TypeError for a pattern that RE2 doesn't support, and with an Error if the package `re2js` isn't installed. In a bundled app, pass
 * its import as `library`.
 */
export async function patterns(
  options: GuardSettings & FindingOptions & PatternRules,
  library?: Promise<PatternLibrary>,
): Promise<Guard> {
  checkOptions('patterns', options)
  const { patterns: patternSources, flags = '', ...guardOptions } = options
  const { maxMatch = 256 } = guardOptions
  const find = await createPatternFinder({ patterns: patternSources, flags, maxMatch }, library)
  return createFindingGuard(guardOptions, {
    find: ({ text, isPiece }) => findHidden(text, (view) => find(view, isPiece)),
    measurePartialMatch: (text) => measureHidden(text, ({ length }) => Math.min(length, maxMatch)),
  })
}

/**
 * Finds personal data with a recognizable format: email addresses, payment cards, IBANs, US social security numbers, phone numbers, and IP addresses.
 */
export function pii({
  types = piiTypes,
  ...options
}: GuardSettings & FindingOptions & { types?: readonly PiiType[] }): Guard {
  checkOptions('pii', { ...options, types })
  return createFindingGuard(options, {
    find: ({ text, isPiece = false }) => findHidden(text, (view) => findPii(view, types, isPiece)),
    measurePartialMatch: (text) => measureHidden(text, measureFolded(measurePartialPii)),
  })
}

/**
 * Finds credentials: keys with vendor prefixes, tokens, private keys, and passwords in URLs, even if they are encoded in base64, hex, or
 * percent-encoding. Masked credentials are never restored.
 */
export function secrets(options: GuardSettings & FindingOptions): Guard {
  checkOptions('secrets', options)
  return createFindingGuard(options, {
    find: ({ text }) => findHidden(text, findSecrets),
    measurePartialMatch: (text) => measureHidden(text, measureFolded(measurePartialSecret)),
    unrestorableTypes: new Set(['SECRET']),
  })
}

/**
 * Removes or rejects characters that hide text from readers: tags, bidirectional overrides, and zero-width characters between Latin letters. Default
 * action: `remove`.
 */
export function invisible({ action = 'remove', ...options }: GuardSettings & FindingOptions): Guard {
  checkOptions('invisible', { ...options, action })
  return createFindingGuard(
    { ...options, action },
    { find: ({ text }) => findInvisible(text), measurePartialMatch: measurePartialInvisible },
  )
}

/** Rejects requests with too many characters, messages, tools, or media. */
export function size(options: GuardSettings & SizeRules): Guard {
  checkOptions('size', options)
  requireRule('size', options, [options.maxCharacters, options.maxTurns, options.maxTools, options.maxMedia])
  return createSizeGuard(options)
}

/** Rejects requests that offer disallowed tools, calls to denied tools, and calls whose arguments don't match a schema. */
export function tools(options: GuardSettings & ToolRules): Guard {
  checkOptions('tools', options)
  requireRule('tools', options, [
    options.allow,
    options.deny,
    options.arguments,
    options.hosted === 'refuse' || undefined,
  ])
  return createToolGuard(options)
}

/** Throws a TypeError for a guard that would never reject or change anything. */
function requireRule(
  kind: 'size' | 'tools' | 'change',
  { media, remote }: GuardSettings,
  rules: readonly unknown[],
): void {
  if (media === 'refuse' || remote === 'refuse' || rules.some((rule) => rule !== undefined)) return
  const names = Object.keys(guardKinds[kind]).map((name) => `"${name}"`)
  throw new TypeError(`${kind}() needs ${names.slice(0, -1).join(', ')}, or ${names.at(-1)}, or it passes everything.`)
}

/** Rejects content that a moderation model flags or scores at or above a threshold. Default timeout: 5,000 ms. */
export function moderation(options: GuardSettings & ModerationRules): Guard {
  checkOptions('moderation', options)
  return createModerationGuard(options)
}

/**
 * Asks a chat model, at temperature 0, whether text complies with a policy. The text is sent as JSON data. If the reply isn't a verdict, the guard
 * fails. Default timeout: 5,000 ms.
 */
export function judge(options: GuardSettings & JudgeRules): Guard {
  checkOptions('judge', options)
  return createJudgeGuard(options)
}

/**
 * Sends the text to your own service as JSON; the service returns a verdict. Redirects, statuses other than 200, and invalid verdicts count as
 * failures.
 */
export function http(options: GuardSettings & HttpRules): Guard {
  checkOptions('http', options)
  return createHttpGuard(options)
}

/** Adds system text to chat requests, and sets or limits their parameters, in each client's own format. Adds headers to all provider calls. */
export function change(options: GuardSettings & ChangeRules): Guard {
  checkOptions('change', options)
  const { prepend, append, set, max, providerHeaders } = options
  requireRule('change', options, [prepend, append, set, max, providerHeaders])
  return createChangeGuard(options)
}
