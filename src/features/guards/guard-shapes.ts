import { findFieldProblem } from '../../lib/shape-problem.ts'
import { endSentence } from '../../lib/shape-texts.ts'
import { type GuardKind, guardKinds, sharedGuardFields } from '../../types/records/guard-fields.ts'
import type { Shape } from '../../types/records/shapes.ts'
import type { Guard } from './guard.ts'

type OptionFields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional: boolean }>>

/** The fields of all guards, without the functions of guards that are defined in code. */
const common: OptionFields = {
  name: { shape: { type: 'text', isNonEmpty: true, max: 64, pattern: /^[\w.-]+$/ }, isOptional: false },
  version: { shape: { type: 'text', isNonEmpty: true, max: 200 }, isOptional: true },
  ...sharedGuardFields,
}

/** The options of all built-in guards. */
export type GuardSettings = Omit<Guard, 'check' | 'changes'>

/** Throws a TypeError for invalid options of a built-in guard. */
export function checkOptions(kind: GuardKind, options: object): void {
  const found = findFieldProblem({ ...common, ...guardKinds[kind] }, { ...options })
  if (found) throw new TypeError(`${kind}()${found.path} ${endSentence(found.problem)}`)
}
