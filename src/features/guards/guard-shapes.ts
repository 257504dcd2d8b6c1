import { findFieldProblem } from '../../lib/shape-problem.ts'
import { type GuardKind, guardKinds, guardTerms } from '../../types/records/guard-fields.ts'
import { flag, map, object, type Shape, text } from '../../types/records/shapes.ts'
import type { Guard } from './guard.ts'

type OptionFields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional: boolean }>>

/** The fields of all guards, without the functions of guards in code. */
const common: OptionFields = {
  name: { shape: { type: 'text', isNonEmpty: true, max: 64, pattern: /^[\w.-]+$/ }, isOptional: false },
  version: { shape: { type: 'text', isNonEmpty: true, max: 200 }, isOptional: true },
  ...guardTerms,
}

const parameters = object({
  temperature: { shape: { type: 'number', min: 0, max: 2 }, isOptional: true },
  topP: { shape: { type: 'number', min: 0, max: 1 }, isOptional: true },
  maxTokens: { shape: { type: 'number', min: 1, isWhole: true }, isOptional: true },
})

/** Kinds that only code defines, since their options aren't meant to be stored. */
const codeKinds: Readonly<Record<'http' | 'change', OptionFields>> = {
  http: {
    url: { shape: text({ isNonEmpty: true, max: 2_000 }), isOptional: false },
    headers: { shape: map({ name: text({ isNonEmpty: true }), of: text(), max: 50 }), isOptional: true },
    changes: { shape: flag, isOptional: true },
    allowPrivate: { shape: flag, isOptional: true },
  },
  change: {
    prepend: { shape: text({ isNonEmpty: true, max: 20_000 }), isOptional: true },
    append: { shape: text({ isNonEmpty: true, max: 20_000 }), isOptional: true },
    set: { shape: parameters, isOptional: true },
    max: { shape: parameters, isOptional: true },
  },
}

/** The options of all built-in guards. */
export type GuardTerms = Omit<Guard, 'check' | 'changes'>

/** Throws a TypeError for the options of a built-in guard. */
export function checkOptions(kind: GuardKind | keyof typeof codeKinds, options: object): void {
  const found = findFieldProblem({ ...common, ...{ ...guardKinds, ...codeKinds }[kind] }, { ...options })
  if (found) throw new TypeError(`${kind}()${found.path} ${found.problem}.`)
}
