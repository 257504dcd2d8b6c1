import { curl, programs } from './snippets.ts'
import type * as texts from './texts/playground.ts'

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
  fetch: { path: '/v1/web/fetch', body: { url: 'https://example.com/' } },
  moderation: { path: '/v1/moderations', body: { input: 'Hello' } },
  images: { path: '/v1/images/generations', body: { prompt: 'A lighthouse at night' } },
  speech: { path: '/v1/audio/speech', body: { input: 'Hello', voice: 'alloy' } },
  transcription: { path: '/v4/ai/transcription-model', body: {} },
}

interface TriedRequest {
  path: string
  body: object
  headers?: Record<string, string>
}

/** The path and the body of a request. */
export function requestFor(format: FormatName, model: string, body: object): TriedRequest {
  const { path } = formats[format]
  if (format === 'transcription')
    return {
      path: String(path),
      body,
      headers: { 'ai-model-id': model, 'ai-transcription-model-specification-version': '4' },
    } // its other form is none of JSON
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
  const type = memberOf(data, 'type')
  if (type === 'response.output_text.delta') return String(memberOf(data, 'delta'))
  if (type === undefined && typeof memberOf(data, 'text') === 'string') return String(memberOf(data, 'text'))
  return SAID.flatMap((path) => textsAt(data, path)).join('')
}

function textsAt(value: unknown, [name, ...rest]: readonly string[]): string[] {
  if (name === undefined) return typeof value === 'string' ? [value] : []
  if (name === '*') return Array.isArray(value) ? value.flatMap((one) => textsAt(one, rest)) : []
  return textsAt(memberOf(value, name), rest)
}

/** The images in an answer, as addresses that hold them: nothing of theirs is loaded from elsewhere, and nothing in them runs. */
export function imagesIn(data: unknown): string[] {
  return textsAt(data, ['data', '*', 'b64_json']).flatMap((text) =>
    /^[\w+/]+=*$/.test(text) ? [`data:image/png;base64,${text}`] : [],
  )
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** A request as code is made of it, of a client that has a key in the variable `SIGNALBOX_KEY`. */
interface CodeFacts {
  /** Of the gateway, without a trailing slash. */
  url: string
  format: FormatName
  model: string
  body: object
}

/** The same request by other means; absent where there is no such client for the format. */
export const codes: ReadonlyArray<{ name: string; code: (facts: CodeFacts) => string | undefined }> = [
  {
    name: 'curl',
    code({ url, format, model, body }) {
      if (format === 'transcription')
        return `curl ${url}/v1/audio/transcriptions -H "authorization: Bearer $SIGNALBOX_KEY" -F file=@sound.mp3 -F model=${model}`
      const { path, body: whole } = requestFor(format, model, body)
      return curl({ url, key: '$SIGNALBOX_KEY' }, path, whole)
    },
  },
  {
    name: 'SDK',
    code({ url, format, model, body }) {
      const [sdk, method] = CALLS[format] ?? []
      if (!sdk) return undefined
      const given = format === 'gemini' ? geminiInput(body) : body
      const isStream = format === 'gemini' || memberOf(body, 'stream') === true
      return `${programs[sdk]({ url, key: KEY })}${method}(${inCode({ model, ...given })})\n${isStream ? 'for await (const event of answer) console.log(event)' : 'console.log(answer)'}`
    },
  },
  {
    name: 'AI SDK',
    code: ({ url, format, model, body }) =>
      format === 'chat'
        ? `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'\nimport { streamText } from 'ai'\n\nconst signalbox = createOpenAICompatible({ name: 'signalbox', baseURL: '${url}/v1', apiKey: ${KEY} })\nconst { textStream } = streamText({\n  model: signalbox(${inCode(model)}),\n  messages: ${inCode(memberOf(body, 'messages')).replaceAll('\n', '\n  ')},\n})\nfor await (const text of textStream) console.log(text)`
        : undefined,
  },
]

const KEY = 'process.env.SIGNALBOX_KEY'

/** The SDK of a format, and the method of its client. */
const CALLS: Partial<Record<FormatName, readonly [sdk: keyof typeof programs, method: string]>> = {
  chat: ['openai', 'chat.completions.create'],
  responses: ['openai', 'responses.create'],
  embeddings: ['openai', 'embeddings.create'],
  moderation: ['openai', 'moderations.create'],
  images: ['openai', 'images.generate'],
  speech: ['openai', 'audio.speech.create'],
  messages: ['anthropic', 'messages.create'],
  gemini: ['google', 'models.generateContentStream'],
}

/** As Google's SDK takes it: the settings of generation are members of `config`, beside the rest. */
function geminiInput({ contents, generationConfig, ...others }: { contents?: unknown; generationConfig?: object }) {
  const config = { ...generationConfig, ...others }
  return { contents, ...(Object.keys(config).length > 0 && { config }) }
}

/** A value as JavaScript. */
const inCode = (value: unknown) => JSON.stringify(value, null, 2) ?? 'undefined'
