import { isObject, isTooDeep } from '../../lib/json.ts'
import { refuseDeepAnswer } from './deep-answer.ts'
import { parseOpaque } from './exact-json.ts'

/** The one member of the object that stands for an answer which is none itself. */
export const WRAPPER = 'answer'

/** The answer out of its object, also of one that was cut; any other text is as it was. Throws `UPSTREAM_INVALID` on JSON that nests too deep. */
export function unwrapOutput(text: string): string {
  if (isTooDeep(text)) refuseDeepAnswer()
  const value = parseOpaque(text)
  if (value === undefined) return text.replace(BEGINNING, '')
  const isWrapped = isObject(value) && Object.hasOwn(value, WRAPPER) && Object.keys(value).length === 1
  return isWrapped ? JSON.stringify(value[WRAPPER]) : text
}

const BEGINNING = new RegExp(`^\\s*\\{\\s*"${WRAPPER}"\\s*:\\s*`)
