import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'

/**
 * An answer in OpenAI's form, of whose vectors only the first numbers are left: its bytes go to the client, and to parse thousands of numbers
 * takes longer than all the rest. `undefined` where the vectors are no numbers, or not all of one width.
 */
export function skimmed(text: string): JsonObject | undefined {
  const lists = listsIn(text)
  if (lists.length === 0) return undefined
  if (lists.length > 1 && new Set(lists.map((list) => widthOf(text, list))).size > 1) return undefined
  let rest = ''
  let at = 0
  for (const { start, end } of lists) {
    const comma = text.indexOf(',', start)
    rest += text.slice(at, comma < 0 || comma > end ? end : comma)
    at = end
  }
  const json = tryParseJson(rest + text.slice(at))
  return isObject(json) ? json : undefined
}

interface List {
  /** Behind its bracket. */
  start: number
  /** Its closing bracket. */
  end: number
}

/** The lists of numbers that are members of the name `embedding`; none if one of them holds anything else. */
function listsIn(text: string): List[] {
  const lists: List[] = []
  for (let key = text.indexOf(KEY); key >= 0; key = text.indexOf(KEY, key + KEY.length)) {
    START.lastIndex = key + KEY.length
    if (!START.test(text)) continue // it is the value of a member
    const start = START.lastIndex
    const end = text.indexOf(']', start)
    if (end < 0) return []
    const numbers = text.slice(start, end)
    if (STRANGE.some((sign) => numbers.includes(sign))) return []
    lists.push({ start, end })
  }
  return lists
}

const KEY = '"embedding"'
const START = /\s*:\s*\[/y

/** What begins anything but a number. */
const STRANGE = ['"', '[', '{', 'n', 't', 'f']

/** By a search for each comma: to look at every character takes five times as long. */
function widthOf(text: string, { start, end }: List): number {
  let width = 1
  for (let at = text.indexOf(',', start); at >= 0 && at < end; at = text.indexOf(',', at + 1)) width++
  return width
}
