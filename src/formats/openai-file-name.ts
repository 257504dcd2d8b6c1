import { entryOf } from '../lib/entry-of.ts'

/** The name of a file for OpenAI, which takes the type of its data from there: others have titles, or none. */
export function fileName(name: string | undefined, mediaType: string): string {
  if (name && ENDING.test(name)) return name
  return `${name || 'file'}.${entryOf(endings, mediaType) ?? 'pdf'}`
}

const ENDING = /\.[a-z][a-z0-9]{0,4}$/i

const endings: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/html': 'html',
  'application/json': 'json',
}
