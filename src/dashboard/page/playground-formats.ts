import type { texts } from './texts/playground.ts'

export type FormatName = keyof typeof texts.formats

/** How a request of a format is asked for. */
interface AskedFormat {
  /** Where the model's name is part of the path, the body has none. */
  path: string | ((model: string) => string)
  /** A request to begin with, without its model. */
  body: object
}

const messages = [{ role: 'user', content: 'Hello' }]

export const formats: Readonly<Record<FormatName, AskedFormat>> = {
  chat: { path: '/v1/chat/completions', body: { stream: true, messages } },
  responses: { path: '/v1/responses', body: { stream: true, input: 'Hello' } },
  messages: { path: '/v1/messages', body: { max_tokens: 1024, stream: true, messages } },
  gemini: {
    path: (model) => `/v1beta/models/${encodeURI(model)}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  },
  embeddings: { path: '/v1/embeddings', body: { input: 'Hello' } },
  rerank: { path: '/v1/rerank', body: { query: 'A greeting', documents: ['Hello', 'Goodbye'] } },
  search: { path: '/v1/search', body: { query: 'Hello' } },
}

/** The path and the body of a request. */
export function requestFor(format: FormatName, model: string, body: object): { path: string; body: object } {
  const { path } = formats[format]
  return typeof path === 'function' ? { path: path(model), body } : { path, body: { model, ...body } }
}

/** Where answers and their events have what the model says; `*`: each element. */
const SAID = [
  'choices.*.delta.content',
  'choices.*.message.content',
  'candidates.*.content.parts.*.text',
  'output.*.content.*.text',
  'content.*.text',
  'delta.text',
].map((path) => path.split('.'))

/** What the model says in an answer or in one of its events. */
export function saidIn(data: unknown): string {
  if (memberOf(data, 'type') === 'response.output_text.delta') return String(memberOf(data, 'delta'))
  return SAID.flatMap((path) => textsAt(data, path)).join('')
}

function textsAt(value: unknown, [name, ...rest]: readonly string[]): string[] {
  if (name === undefined) return typeof value === 'string' ? [value] : []
  if (name === '*') return Array.isArray(value) ? value.flatMap((one) => textsAt(one, rest)) : []
  return textsAt(memberOf(value, name), rest)
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** The same request as a command, to be sent with a key. */
export function curlOf(url: string, { path, body }: { path: string; body: object }): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return `curl -N ${quoted(url + path)} \\\n  -H "authorization: Bearer $SIGNALBOX_KEY" \\\n  -H 'content-type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`
}
