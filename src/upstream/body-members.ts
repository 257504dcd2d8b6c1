import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { scanTopLevel } from '../lib/json-scan.ts'

/** A JSON body without the named members of its outermost object, and with `added` before the others; every other character stays. */
export function withMembers(
  body: string | Uint8Array,
  { without, added }: { without: readonly string[]; added: Readonly<Record<string, unknown>> },
): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const open = text.indexOf('{') + 1
  let kept = ''
  let at = open
  for (const { start, end } of scanTopLevel(text, without).spans) {
    const closing = text.lastIndexOf('"', start - 1)
    kept += text.slice(at, text.lastIndexOf('"', closing - 1)) // no name that is asked for has a quote within
    const comma = /\s*,\s*/y
    comma.lastIndex = end
    at = comma.test(text) ? comma.lastIndex : end
    if (at === end) kept = kept.trimEnd().replace(/,$/, '') // it was the last
  }
  kept += text.slice(at)
  const members = JSON.stringify(added).slice(1, -1)
  const isAlone = members === '' || /^\s*\}/.test(kept)
  return `${text.slice(0, open)}${members}${isAlone ? '' : ','}${kept}`
}
