import type { UpstreamAnswer } from '../lib/exchange.ts'

/** The provider's id of the request; `own`: the name of its header in the client's format, which is looked at first. */
export const requestIdIn = (answer: Pick<UpstreamAnswer, 'headers'>, own: string): string | undefined =>
  requestIdAmong(Object.fromEntries(answer.headers()), own)

/** The same among headers that are read already, which costs less. */
export function requestIdAmong(headers: Readonly<Record<string, string>>, own: string): string | undefined {
  let id = headers[own]
  for (const name of NAMES) id ??= headers[name]
  return id !== undefined && PRINTABLE.test(id) ? id : undefined
}

/** The header names of OpenAI and most others, Anthropic, AWS, Azure and Google. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE = /^[\x21-\x7e]{1,300}$/
