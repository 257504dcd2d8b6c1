/** The provider's id of the request; `own`: the name of its header in the client's format, which is looked at first. */
export function requestIdIn(header: (name: string) => string | undefined, own: string): string | undefined {
  let id = header(own)
  for (const name of NAMES) id ??= header(name)
  return id !== undefined && PRINTABLE.test(id) ? id : undefined
}

/** The same among headers that are read already, which costs less. */
export const requestIdAmong = (headers: Readonly<Record<string, string>>, own: string): string | undefined =>
  requestIdIn((name) => headers[name], own)

/** The header names of OpenAI and most others, Anthropic, AWS, Azure and Google. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE = /^[\x21-\x7e]{1,300}$/
