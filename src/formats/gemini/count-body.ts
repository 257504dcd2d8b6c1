import { replaceSpans, scanTopLevel } from '../../lib/json-scan.ts'

/** A `countTokens` body whose request within, which names its model once more, names this one; every other character stays. */
export function countBodyFor(text: string, model: string): string {
  const { spans } = scanTopLevel(text, ['generateContentRequest', 'generate_content_request'])
  let body = ''
  let at = 0
  for (const { start, end } of spans) {
    const within = text.slice(start, end)
    const named = replaceSpans(within, scanTopLevel(within, ['model']).spans, JSON.stringify(`models/${model}`))
    body += text.slice(at, start) + named
    at = end
  }
  return body + text.slice(at)
}
