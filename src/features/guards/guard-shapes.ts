import { findFieldProblem } from '../../lib/shape-problem.ts'
import { choice, type Shape } from '../../types/records/shapes.ts'
import type { Guard } from './guard.ts'

type OptionFields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional: boolean }>>

const count = { shape: { type: 'number', min: 1, isWhole: true }, isOptional: true } as const
const text = { type: 'text', isNonEmpty: true, max: 200 } as const
const list = (of: Shape, max: number) => ({ type: 'list', of, items: 'entries', max, isNonEmpty: true }) as const
const required = (shape: Shape) => ({ shape, isOptional: false })
const optional = (shape: Shape) => ({ shape, isOptional: true })

/** The fields of all guards, without the functions of guards in code. */
const common: OptionFields = {
  name: { shape: { type: 'text', isNonEmpty: true, max: 64, pattern: /^[\w.-]+$/ }, isOptional: false },
  version: optional(text),
  on: optional(list(choice(['request', 'answer']), 2)),
  as: optional(choice(['error', 'answer'])),
  message: optional({ ...text, max: 1_000 }),
  older: optional(choice(['remove', 'refuse'])),
  onError: optional(choice(['refuse', 'pass'])),
  timeoutMs: count,
  mode: optional(choice(['enforce', 'watch'])),
  media: optional(choice(['pass', 'refuse'])),
  remote: optional(choice(['pass', 'refuse'])),
  hold: optional(choice(['window', 'all'])),
  maxMatch: count,
}

const action = { action: optional(choice(['refuse', 'mask', 'replace', 'remove'])) }

/** The built-in guards. */
export type GuardKind = 'words' | 'pii' | 'secrets' | 'invisible' | 'size' | 'tools' | 'moderation' | 'judge'

/** The options of all built-in guards. */
export type GuardTerms = Omit<Guard, 'check' | 'changes'>

/** The fields of each kind. */
const kinds: Readonly<Record<GuardKind, OptionFields>> = {
  words: { words: { shape: list(text, 1_000), isOptional: false }, ...action },
  pii: { types: optional(list(choice(['email', 'card', 'iban', 'ssn', 'phone', 'ip']), 6)), ...action },
  secrets: action,
  invisible: action,
  moderation: {
    model: required(text),
    thresholds: optional({ type: 'map', name: text, of: { type: 'number', min: 0, max: 1 }, max: 100 }),
  },
  judge: { model: required(text), policy: required({ ...text, max: 20_000 }) },
  size: { maxCharacters: count, maxTurns: count, maxTools: count, maxMedia: count },
  tools: {
    allow: optional(list(text, 1_000)),
    deny: optional(list(text, 1_000)),
    hosted: optional(choice(['pass', 'refuse'])),
  },
}

/** Throws a TypeError for the options of a built-in guard. */
export function checkOptions(kind: GuardKind, options: object): void {
  const found = findFieldProblem({ ...common, ...kinds[kind] }, { ...options })
  if (found) throw new TypeError(`${kind}()${found.path} ${found.problem}.`)
}
