/** The provider's id of the request, under the name `own`; empty when there is none. */
export function requestIdHeader(header: (name: string) => string | undefined, own: string): Record<string, string> {
  let id = header(own)
  for (const name of NAMES) id ??= header(name)
  return id !== undefined && PRINTABLE.test(id) ? { [own]: id } : {}
}

/** The header names of OpenAI and most others, Anthropic, AWS, Azure and Google. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE = /^[\x21-\x7e]{1,300}$/
