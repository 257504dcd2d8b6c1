import { findFieldProblem } from '../../lib/shape-problem.ts'
import { describeNames, endSentence, HEADER_NAME_PATTERN } from '../../lib/shape-texts.ts'
import { type GuardKind, guardKinds, sharedGuardFields } from '../../types/records/guard-fields.ts'
import type { Shape } from '../../types/records/shapes.ts'
import type { Guard } from './guard.ts'

type OptionFields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional: boolean }>>

/** Fields common to all guards, except the functions of guards defined in code. */
const COMMON_FIELDS: OptionFields = {
  name: { shape: { type: 'text', isNonEmpty: true, max: 64, pattern: /^[\w.-]+$/ }, isOptional: false },
  version: { shape: { type: 'text', isNonEmpty: true, max: 200 }, isOptional: true },
  ...sharedGuardFields,
}

/** Options common to all built-in guards. */
export type GuardSettings = Omit<Guard, 'check' | 'changes'>

/** Throws a TypeError for invalid options of a built-in guard. */
export function checkOptions(kind: GuardKind, options: object): void {
  const fieldProblem = findFieldProblem({ ...COMMON_FIELDS, ...guardKinds[kind] }, { ...options })
  if (fieldProblem) throw new TypeError(`${kind}()${fieldProblem.path} ${endSentence(fieldProblem.problem)}`)
}

/**
 * Throws a TypeError for headers that can't be sent. The message names the option as `optionName`, such as `http().headers`, and never quotes header
 * values.
 */
export function checkHeaders(optionName: string, headers: Readonly<Record<string, string>>): void {
  const names = new Set<string>()
  let length = 0
  for (const [name, value] of Object.entries(headers)) {
    const lowerName = name.toLowerCase()
    const problem = !HEADER_NAME_PATTERN.test(name)
      ? ` ${describeNames('must be a header name')}`
      : RESERVED_HEADER_PATTERN.test(lowerName) || names.has(lowerName)
        ? `.${name} is already set; omit it`
        : /^[!-~][ -~]*$/.test(value)
          ? undefined
          : `.${name} must be the complete value: one line of ASCII characters, not blank`
    if (problem) throw new TypeError(`${optionName}${problem}.`)
    names.add(lowerName)
    length += name.length + value.length
  }
  if (length > MAX_HEADERS_LENGTH)
    throw new TypeError(`${optionName} must not be longer than ${MAX_HEADERS_LENGTH} characters in total.`)
}

/** Maximum total length. Most servers accept 16 KiB of headers, including those that HTTP clients add. */
const MAX_HEADERS_LENGTH = 12_000

/** Headers that describe the body or the connection. The gateway or its HTTP client sets them. */
const RESERVED_HEADER_PATTERN =
  /^(?:accept|accept-encoding|connection|content-.*|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/
