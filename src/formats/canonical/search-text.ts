import type { ServerToolPart } from './parts.ts'

/** A search that a provider made by itself, for a model that is not to be told of it in any other way. */
export function searchText({ query, results }: ServerToolPart): string {
  const found = results.map(({ url, title, text }) => `- ${title || url} (${url})${text ? `: ${text}` : ''}`)
  return [`Web search: ${query}`, ...found].join('\n')
}
