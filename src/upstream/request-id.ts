import type { UpstreamAnswer } from '../lib/exchange.ts'
import type { WireFormat } from '../types.ts'

/** The id by which a provider knows a request, under the name that clients of the format look for; nothing where it has told none. */
export function requestIdHeader(answer: UpstreamAnswer, format: WireFormat): Record<string, string> {
  const own = format === 'anthropic-messages' ? 'request-id' : 'x-request-id'
  let id = answer.header(own)
  for (const name of NAMES) id ??= answer.header(name)
  return id !== undefined && PRINTABLE.test(id) ? { [own]: id } : {}
}

/** OpenAI and most others, Anthropic, AWS, Azure, Google. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE = /^[\x21-\x7e]{1,300}$/
