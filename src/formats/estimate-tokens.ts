import type { CanonicalRequest } from './request.ts'

/** About as many tokens as a request has, where nobody can count them: a token is about four characters, an image about 1,500 tokens. */
export function estimateTokens({ turns, tools, output }: Pick<CanonicalRequest, 'turns' | 'tools' | 'output'>): number {
  const size = sizeOf(turns) + JSON.stringify([tools, output]).length
  return Math.max(1, Math.ceil(size / CHARACTERS_A_TOKEN))
}

/** Characters in all texts within a value. Media count by what they are, not by their bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  if ('type' in value && (value.type === 'base64' || value.type === 'url' || value.type === 'file-id')) return MEDIA
  return Object.values(value).reduce((sum: number, inner: unknown) => sum + sizeOf(inner), 0)
}

const CHARACTERS_A_TOKEN = 4
const MEDIA = 1_500 * CHARACTERS_A_TOKEN
