import { readProviderError } from './read-error.ts'

/** Finds the fields that an error rejects because the provider doesn't support them. Ignores fields with invalid values. */
export function findRejectedFields(body: unknown, fields: readonly string[]): string[] {
  const { message: fullMessage = '', param } = readProviderError(body)
  const message = fullMessage.slice(0, MAX_READ_CHARACTERS)
  if (VALUE_ERROR_PATTERN.test(message)) return []
  return fields.filter((field) => {
    const lastSegment = field.slice(field.lastIndexOf('.') + 1) // some vendors name a nested field without its path
    const isNamed = (param === field || param === lastSegment) && UNKNOWN_FIELD_PATTERN.test(message)
    return isNamed || [field, lastSegment].some((name) => isUnknownField(message, name) || isExtraField(message, name))
  })
}

const MAX_READ_CHARACTERS = 2_000

const VALUE_ERROR_PATTERN = /\b(?:unsupported|invalid|illegal) values?\b/i

const UNKNOWN_FIELD_PATTERN =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:supported|permitted|allowed|recogni[sz]ed))\b/i

/**
 * Returns whether a sentence calls the field unknown: `unknown field "top_k"`, `top_k is not supported`. The names of expected fields may follow a
 * comma.
 */
function isUnknownField(message: string, field: string): boolean {
  const name = `(?<![\\w.-])(?:body\\.)?${escapeRegExp(field)}(?![\\w-])`
  return (
    new RegExp(`\\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported)\\b[^.,;]{0,60}?${name}`, 'i').test(message) ||
    new RegExp(
      `${name}[^.,;]{0,40}?\\b(?:not (?:supported|permitted|allowed|recogni[sz]ed)|unknown|unexpected|unsupported)\\b`,
      'i',
    ).test(message)
  )
}

/** Matches Pydantic's list of errors, as older servers print it. */
const isExtraField = (message: string, field: string): boolean =>
  new RegExp(`'loc': \\('body', '${escapeRegExp(field)}'\\), 'msg': 'Extra inputs are not permitted`).test(message)

const escapeRegExp = (field: string) => field.replace(/[^\w]/g, '\\$&')
