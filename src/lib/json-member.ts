import { scanTopLevel } from './json-scan.ts'

/**
 * A JSON object with one of its members set, wherever it is, or before all others; every other character stays. `valueFor` gets the text
 * of the value that is there, if any.
 */
export function withMember(text: string, name: string, valueFor: (given?: string) => string): string {
  const { spans } = scanTopLevel(text, [name])
  if (spans.length > 0)
    return spans.reduceRight(
      (set, { start, end }) => set.slice(0, start) + valueFor(text.slice(start, end)) + set.slice(end),
      text,
    )
  const open = text.indexOf('{') + 1
  const isAlone = /^\s*\}/.test(text.slice(open))
  return `${text.slice(0, open)}${JSON.stringify(name)}:${valueFor()}${isAlone ? '' : ','}${text.slice(open)}`
}

/** A JSON object without one of its members, wherever it is; every other character stays. */
export function withoutMember(text: string, name: string): string {
  const { spans } = scanTopLevel(text, [name])
  return spans.reduceRight((rest, { start, end }) => {
    const nameEnd = rest.lastIndexOf('"', start - 1)
    const from = rest.lastIndexOf('"', nameEnd - 1)
    const before = rest.slice(0, from).trimEnd()
    const after = rest.slice(end).trimStart()
    if (after.startsWith(',')) return rest.slice(0, from) + after.slice(1).trimStart()
    return (before.endsWith(',') ? before.slice(0, -1).trimEnd() : rest.slice(0, from)) + rest.slice(end)
  }, text)
}
