import { readProviderError } from './read.ts'

/** Which of the fields an error body refuses because the provider does not know them; not those whose values it refuses. */
export function refusedFields(body: unknown, fields: readonly string[]): string[] {
  const { message: whole = '', param } = readProviderError(body)
  const message = whole.slice(0, MAX_READ)
  if (OF_A_VALUE.test(message)) return []
  return fields.filter((field) => {
    const last = field.slice(field.lastIndexOf('.') + 1) // some vendors name a nested field without its path
    const isNamed = (param === field || param === last) && UNKNOWN.test(message)
    return isNamed || [field, last].some((name) => isCalledUnknown(message, name) || isCalledExtra(message, name))
  })
}

const MAX_READ = 2_000

const OF_A_VALUE = /\b(?:unsupported|invalid|illegal) values?\b/i

const UNKNOWN =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:supported|permitted|allowed|recogni[sz]ed))\b/i

/** Does a sentence call the field unknown: `unknown field "top_k"`, `top_k is not supported`? Fields that were expected instead follow a comma. */
function isCalledUnknown(message: string, field: string): boolean {
  const name = `(?<![\\w.-])(?:body\\.)?${escaped(field)}(?![\\w-])`
  return (
    new RegExp(`\\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported)\\b[^.,;]{0,60}?${name}`, 'i').test(message) ||
    new RegExp(
      `${name}[^.,;]{0,40}?\\b(?:not (?:supported|permitted|allowed|recogni[sz]ed)|unknown|unexpected|unsupported)\\b`,
      'i',
    ).test(message)
  )
}

/** Pydantic's list of errors, as older servers print it. */
const isCalledExtra = (message: string, field: string): boolean =>
  new RegExp(`'loc': \\('body', '${escaped(field)}'\\), 'msg': 'Extra inputs are not permitted`).test(message)

const escaped = (field: string) => field.replace(/[^\w]/g, '\\$&')
