import { isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'

/**
 * Parses a response in OpenAI's format, keeping only the first number of each vector. The client gets the bytes unchanged, and parsing thousands of
 * numbers would take longer than the rest of the request. Returns `undefined` if the vectors aren't numbers or differ in length.
 */
export function skimResponse(text: string): JsonObject | undefined {
  const lists = findLists(text)
  if (lists.length === 0) return undefined
  if (lists.length > 1 && new Set(lists.map((list) => countNumbers(text, list))).size > 1) return undefined
  let remainingText = ''
  let position = 0
  for (const { start, end } of lists) {
    const comma = text.indexOf(',', start)
    remainingText += text.slice(position, comma < 0 || comma > end ? end : comma)
    position = end
  }
  const json = tryParseJson(remainingText + text.slice(position))
  return isObject(json) ? json : undefined
}

interface NumberList {
  /** The position after the opening bracket. */
  start: number
  /** The position of the closing bracket. */
  end: number
}

/** Finds the number lists in fields named `embedding`, or returns none if one of them contains anything else. */
function findLists(text: string): NumberList[] {
  const lists: NumberList[] = []
  for (
    let key = text.indexOf(EMBEDDING_FIELD);
    key >= 0;
    key = text.indexOf(EMBEDDING_FIELD, key + EMBEDDING_FIELD.length)
  ) {
    ARRAY_START_PATTERN.lastIndex = key + EMBEDDING_FIELD.length
    if (!ARRAY_START_PATTERN.test(text)) continue // the match is a value, not a field name
    const start = ARRAY_START_PATTERN.lastIndex
    const end = text.indexOf(']', start)
    if (end < 0) return []
    const numbers = text.slice(start, end)
    if (NON_NUMBER_STARTS.some((start) => numbers.includes(start))) return []
    lists.push({ start, end })
  }
  return lists
}

const EMBEDDING_FIELD = '"embedding"'
const ARRAY_START_PATTERN = /\s*:\s*\[/y

/** Characters that occur only in values that aren't numbers. */
const NON_NUMBER_STARTS = ['"', '[', '{', 'n', 't', 'f']

/** Counts numbers by searching for commas. Checking every character would take five times as long. */
function countNumbers(text: string, { start, end }: NumberList): number {
  let count = 1
  for (
    let position = text.indexOf(',', start);
    position >= 0 && position < end;
    position = text.indexOf(',', position + 1)
  )
    count++
  return count
}
