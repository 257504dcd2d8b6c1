import { curl, programs } from './snippets.ts'

export const formatLabels = {
  chat: 'OpenAI Chat Completions',
  responses: 'OpenAI Responses',
  messages: 'Anthropic Messages',
  gemini: 'Gemini',
  embeddings: 'Embeddings',
  rerank: 'Rerank',
  search: 'Web search',
  fetch: 'Web fetch',
  moderation: 'Moderation',
  images: 'Image generation',
  speech: 'Text to speech',
  transcription: 'Transcription',
} as const

export type FormatName = keyof typeof formatLabels

interface EndpointFormat {
  /** A function if the path contains the model name; otherwise, the body contains it. */
  path: string | ((model: string) => string)
  /** The initial request body, without the model. */
  body: object
}

const messages = [{ role: 'user', content: 'Hello' }]

export const formats: Readonly<Record<FormatName, EndpointFormat>> = {
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

interface PlaygroundRequest {
  path: string
  body: object
  headers?: Record<string, string>
}

/** Builds the path, body, and headers of a request. */
export function buildRequest(format: FormatName, model: string, body: object): PlaygroundRequest {
  const { path } = formats[format]
  if (format === 'transcription')
    return {
      path: String(path),
      body,
      headers: { 'ai-model-id': model, 'ai-transcription-model-specification-version': '4' },
    } // OpenAI's transcription API doesn't accept JSON
  return typeof path === 'function' ? { path: path(model), body } : { path, body: { model, ...body } }
}

/** Paths to the model's output in responses and events; `*` matches each element. */
const OUTPUT_PATHS = [
  'choices.*.delta.content',
  'choices.*.message.content',
  'candidates.*.content.parts.*.text',
  'output.*.content.*.text',
  'content.*.text',
  'delta.text',
].map((path) => path.split('.'))

/** Extracts the model's output from a response or an event. */
export function extractOutput(data: unknown): string {
  const type = getField(data, 'type')
  if (type === 'response.output_text.delta') return String(getField(data, 'delta'))
  if (type === undefined && typeof getField(data, 'text') === 'string') return String(getField(data, 'text'))
  return OUTPUT_PATHS.flatMap((path) => collectStrings(data, path)).join('')
}

function collectStrings(value: unknown, [name, ...restNames]: readonly string[]): string[] {
  if (name === undefined) return typeof value === 'string' ? [value] : []
  if (name === '*') return Array.isArray(value) ? value.flatMap((item) => collectStrings(item, restNames)) : []
  return collectStrings(getField(value, name), restNames)
}

/** Extracts images from a response as data URLs, which can't load or run anything else. */
export function extractImages(data: unknown): string[] {
  return collectStrings(data, ['data', '*', 'b64_json']).flatMap((text) =>
    /^[\w+/]+=*$/.test(text) ? [`data:image/png;base64,${text}`] : [],
  )
}

export const getField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** A request to render as code. The code reads the client's key from the `SIGNALBOX_KEY` variable. */
interface CodeRequest {
  /** The gateway's URL without a trailing slash. */
  url: string
  format: FormatName
  model: string
  body: object
}

/** The clients to generate code for. `code` returns `undefined` if the client doesn't support the format. */
export const codeSamples: ReadonlyArray<{ name: string; code: (request: CodeRequest) => string | undefined }> = [
  {
    name: 'curl command',
    code({ url, format, model, body }) {
      if (format === 'transcription')
        return `curl ${url}/v1/audio/transcriptions -H "authorization: Bearer $SIGNALBOX_KEY" -F file=@sound.mp3 -F model=${model}`
      const { path, body: fullBody } = buildRequest(format, model, body)
      return curl({ url, key: '$SIGNALBOX_KEY' }, path, fullBody)
    },
  },
  {
    name: 'SDK code',
    code({ url, format, model, body }) {
      const [sdk, method] = SDK_CALLS[format] ?? []
      if (!sdk) return undefined
      const input = format === 'gemini' ? toGeminiInput(body) : body
      const isStream = format === 'gemini' || getField(body, 'stream') === true
      return `${programs[sdk]({ url, key: KEY_EXPRESSION })}${method}(${toCode({ model, ...input })})\n${isStream ? 'for await (const event of response) console.log(event)' : 'console.log(response)'}`
    },
  },
  {
    name: 'AI SDK code',
    code: ({ url, format, model, body }) =>
      format === 'chat'
        ? `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'\nimport { streamText } from 'ai'\n\nconst signalbox = createOpenAICompatible({ name: 'signalbox', baseURL: '${url}/v1', apiKey: ${KEY_EXPRESSION} })\nconst { textStream } = streamText({\n  model: signalbox(${toCode(model)}),\n  messages: ${toCode(getField(body, 'messages')).replaceAll('\n', '\n  ')},\n})\nfor await (const text of textStream) console.log(text)`
        : undefined,
  },
]

const KEY_EXPRESSION = 'process.env.SIGNALBOX_KEY'

/** The SDK for each format, and the method to call on its client. */
const SDK_CALLS: Partial<Record<FormatName, readonly [sdk: keyof typeof programs, method: string]>> = {
  chat: ['openai', 'chat.completions.create'],
  responses: ['openai', 'responses.create'],
  embeddings: ['openai', 'embeddings.create'],
  moderation: ['openai', 'moderations.create'],
  images: ['openai', 'images.generate'],
  speech: ['openai', 'audio.speech.create'],
  messages: ['anthropic', 'messages.create'],
  gemini: ['google', 'models.generateContentStream'],
}

/** Converts a request body to input for Google's SDK, which expects generation settings in `config`. */
function toGeminiInput({
  contents,
  generationConfig,
  ...otherFields
}: {
  contents?: unknown
  generationConfig?: object
}) {
  const config = { ...generationConfig, ...otherFields }
  return { contents, ...(Object.keys(config).length > 0 && { config }) }
}

const toCode = (value: unknown) => JSON.stringify(value, null, 2) ?? 'undefined'
