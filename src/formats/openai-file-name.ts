import { endingOf } from './canonical/type-of-url.ts'

/** The name of a file for OpenAI, which takes the type of its data from there: others have titles, or none. */
export function fileName(name: string | undefined, mediaType: string): string {
  if (name && ENDING.test(name)) return name
  return `${name || 'file'}.${endingOf(mediaType) ?? 'pdf'}`
}

const ENDING = /\.[a-z][a-z0-9]{0,4}$/i
