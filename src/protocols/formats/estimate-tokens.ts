/**
 * Estimates a request's tokens (at least 1) for targets that can't count them. Takes the parts of a canonical request, or a request body in any
 * format. Text counts by its length, media as a fixed number, and tools by their JSON, including field names.
 */
export const estimateTokens = (request: object): number =>
  Math.max(1, Math.ceil(countCharacters(request) / CHARACTERS_PER_TOKEN))

function countCharacters(value: unknown): number {
  if (typeof value === 'string') return isMedia(value) ? MEDIA_CHARACTERS : value.length
  if (typeof value !== 'object' || value === null) return 0
  if ('type' in value && (value.type === 'base64' || value.type === 'url' || value.type === 'file-id'))
    return MEDIA_CHARACTERS
  return Object.entries(value).reduce((sum, [name, fieldValue]) => {
    if (name !== 'tools' && name !== 'output') return sum + countCharacters(fieldValue)
    return sum + (fieldValue === undefined ? 0 : JSON.stringify(fieldValue).length) // includes the canonical output schema, in the field `output`
  }, 0)
}

/**
 * Returns whether the text is a data URL or long base64. Only checks both ends, because V8 can throw a RangeError for a pattern on megabytes of text.
 */
const isMedia = (text: string) =>
  text.startsWith('data:') ||
  (text.length > SCANNED_CHARACTERS &&
    BASE64_PATTERN.test(text.slice(0, SCANNED_CHARACTERS)) &&
    BASE64_PATTERN.test(text.slice(-SCANNED_CHARACTERS)))

const SCANNED_CHARACTERS = 2_000
const BASE64_PATTERN = /^[\w+/=-]+$/

/** The average for English prose. Code and other languages have fewer characters per token. */
const CHARACTERS_PER_TOKEN = 4

/**
 * The number of characters that an image, audio, or file counts as. Equals 1,600 tokens, the most that large vendors charge for an image of any size.
 */
const MEDIA_CHARACTERS = 1_600 * CHARACTERS_PER_TOKEN
