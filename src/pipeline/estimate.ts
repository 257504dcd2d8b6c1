import type { Reply } from '../lib/exchange.ts'
import type { WireFormat } from '../types.ts'
import { attemptHeaders, type Step } from './attempt-record.ts'
import type { ModelCall } from './call.ts'

/** Characters of a token in English prose; code and other languages have fewer. */
const CHARACTERS = 4

/** What an image costs at most with the large vendors, whatever its size in bytes. */
const IMAGE_TOKENS = 1_600

/** The tokens of a request, guessed by the length of its texts; the answer says that it is a guess. */
export function estimateReply({ body, endpoint }: ModelCall, steps: readonly Step[]): Reply {
  const tokens = Math.max(1, tokensOf(body))
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-signalbox-warning': 'estimated:input_tokens',
      ...attemptHeaders(steps),
    },
    body: JSON.stringify(counted(endpoint.format, tokens)),
  }
}

function counted(format: WireFormat, tokens: number): object {
  if (format === 'gemini') return { totalTokens: tokens }
  return format === 'openai-responses'
    ? { object: 'response.input_tokens', input_tokens: tokens }
    : { input_tokens: tokens }
}

function tokensOf(value: unknown): number {
  if (typeof value === 'string') return isMedia(value) ? IMAGE_TOKENS : Math.ceil(value.length / CHARACTERS)
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + tokensOf(one), 0)
}

/** A data URL, or base64 without any space. */
const isMedia = (text: string) => text.startsWith('data:') || (text.length > 2_000 && /^[\w+/=-]+$/.test(text))
