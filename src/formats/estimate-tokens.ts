/**
 * An estimate of a request's tokens, for targets that cannot count them; at least 1. Takes the parts of a canonical request, or a request's
 * body in any format: texts count by their length, media as a fixed number, and tools by their JSON, where names of fields count too.
 */
export const estimateTokens = (request: object): number =>
  Math.max(1, Math.ceil(sizeOf(request) / CHARACTERS_PER_TOKEN))

/** The size of a value in characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return isMedia(value) ? MEDIA : value.length
  if (typeof value !== 'object' || value === null) return 0
  if ('type' in value && (value.type === 'base64' || value.type === 'url' || value.type === 'file-id')) return MEDIA
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (countsAsJson(name) ? jsonSize(inner) : sizeOf(inner)),
    0,
  )
}

/** Is the text a data URL, or long base64? */
const isMedia = (text: string) => text.startsWith('data:') || (text.length > 2_000 && /^[\w+/=-]+$/.test(text))

/** Is it a field whose JSON counts: the tools, or the canonical form's schema of the answer? */
const countsAsJson = (name: string) => name === 'tools' || name === 'output'

const jsonSize = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).length)

/** The average in English prose; code and other languages have fewer. */
const CHARACTERS_PER_TOKEN = 4

/** The characters that a medium counts for: 1,600 tokens, the most that large vendors charge for an image of any size. */
const MEDIA = 1_600 * CHARACTERS_PER_TOKEN
