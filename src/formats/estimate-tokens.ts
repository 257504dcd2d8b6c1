/**
 * About how many tokens a request has, for when nobody can count them; at least 1. Takes the parts of a canonical request, or a request's
 * body in any format: texts count by their length, media by a fixed sum, and tools by their JSON, since names of fields count there too.
 */
export const estimateTokens = (request: object): number =>
  Math.max(1, Math.ceil(sizeOf(request) / CHARACTERS_PER_TOKEN))

/** In characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return isMedia(value) ? MEDIA : value.length
  if (typeof value !== 'object' || value === null) return 0
  if ('type' in value && (value.type === 'base64' || value.type === 'url' || value.type === 'file-id')) return MEDIA
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (isDeclared(name) ? jsonSize(inner) : sizeOf(inner)),
    0,
  )
}

/** A data URL, or long base64. */
const isMedia = (text: string) => text.startsWith('data:') || (text.length > 2_000 && /^[\w+/=-]+$/.test(text))

/** The tools, and the canonical form's schema of the answer. */
const isDeclared = (name: string) => name === 'tools' || name === 'output'

const jsonSize = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).length)

/** In English prose; code and other languages have fewer. */
const CHARACTERS_PER_TOKEN = 4

/** What an image costs at most with the large vendors, whatever its size in bytes: 1,600 tokens. */
const MEDIA = 1_600 * CHARACTERS_PER_TOKEN
