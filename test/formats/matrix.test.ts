import { encodeUtf8 } from '../../src/lib/bytes.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { createSseParser, type SseEvent } from '../../src/lib/sse.ts'
import { createResponseWarnings } from '../../src/protocols/formats/canonical/canonical-warnings.ts'
import { assembleStream, translateStream } from '../../src/protocols/formats/translate-stream.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { clients, type Understood, wholeClients } from './support/clients.ts'
import { getShare, getTranslator } from './support/matrix.ts'
import { type Received, recordedStreams } from './support/recordings.ts'

const test = suite('every recorded stream for clients of every format')

/** The names of the formats in the recorded results of the vendors' clients. */
const apis: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
}

const SMALL = 8_000

/** Ways to split a stream into chunks. */
const manners: Readonly<Record<string, (bytes: Uint8Array, seed: number) => Iterable<Uint8Array>>> = {
  whole: (bytes) => [bytes],
  'in random chunks': randomPieces,
  'byte by byte': (bytes) => (bytes.length > SMALL ? randomPieces(bytes, 1) : pieces(bytes, () => 1)),
}

function* pieces(bytes: Uint8Array, size: () => number) {
  for (let index = 0; index < bytes.length; ) {
    const end = index + size()
    yield bytes.subarray(index, end)
    index = end
  }
}

function* randomPieces(bytes: Uint8Array, seed: number) {
  let state = seed + 1
  yield* pieces(bytes, () => {
    state = (state * 48_271) % 0x7fffffff
    return 1 + (state % 97)
  })
}

/** Creates the contexts for reading a stream of `from` and writing it for a client of `to`. */
async function createContexts(from: WireFormat, to: WireFormat) {
  const [source, client] = await Promise.all([getTranslator(from), getTranslator(to)])
  let count = 0
  const newId = () => `${++count}`.padStart(24, 'a')
  const origin = { format: from, account: 'vendor' }
  const responseWarnings = createResponseWarnings()
  return {
    from: source,
    to: client,
    readerContext: { origin, traits: source.traits, newId, responseWarnings },
    writerContext: {
      request: {
        model: 'm',
        stream: true,
        streamUsage: true,
        turns: [],
        tools: [],
        options: {},
        client: { alt: 'sse' },
      },
      model: 'm',
      newId,
      nowSeconds: 1_700_000_000,
      responseWarnings,
    },
  }
}

/** Returns the stream that a client of `to` receives. */
async function translate(chunks: Iterable<Uint8Array>, from: WireFormat, to: WireFormat): Promise<string> {
  const events: string[] = []
  const stream = translateStream(await createContexts(from, to), (event) => events.push(event))
  for (const chunk of chunks) stream.push(chunk)
  stream.end()
  return events.join('')
}

/** Returns the result for a client of `to` that didn't request a stream. */
async function collect(sse: string, from: WireFormat, to: WireFormat): Promise<Understood> {
  const { from: source, to: client, readerContext, writerContext } = await createContexts(from, to)
  const events: SseEvent[] = []
  const parser = createSseParser((event) => events.push(event))
  parser.push(sse)
  parser.end()
  const response = assembleStream(events, { from: source, readerContext, candidates: 1 })
  return wholeClients[to](Response.json(client.writeResponse(response, writerContext)))
}

/** Returns the client's result, or its error as a string. */
const readAsClient = (format: WireFormat, stream: string): Promise<Understood | string> =>
  clients[format](new Response(stream, { headers: { 'content-type': 'text/event-stream' } })).catch(String)

/** Returns whether the response ended normally. Google's chunks are only merged, so an error or a truncation shows up as a missing finish reason. */
const isComplete = (api: WireFormat, { ok, finish }: Received) => ok && (api !== 'gemini' || typeof finish === 'string')

/** Returns the vendor client's result in format-neutral terms, without reasoning and token counts that the client doesn't know. */
function wanted(api: WireFormat, received: Received): Partial<Understood> {
  const heardCalls = received.tool_calls ?? []
  const calls = heardCalls.map(({ name, args, arguments: text }) => ({ name, args: args ?? parse(text) }))
  const isInPieces = heardCalls.some((call) => 'partial' in call) // the simple merge doesn't join argument fragments
  return {
    text: received.text ?? '',
    ...(received.reasoning !== undefined && { reasoning: received.reasoning }),
    ...(!isInPieces && { calls }),
    finish: getFinish(received.finish ?? '', calls.length > 0),
    ...(isObject(received.usage) && getTokens(api, received.usage)),
  }
}

const parse = (text = '') => (text.trim() === '' ? {} : JSON.parse(text))

function getFinish(finish: string, hasCalls: boolean): Understood['finish'] {
  if (/^(length|max_tokens|incomplete)$/i.test(finish)) return 'length'
  if (/content_filter|refusal|safety/i.test(finish)) return 'filter'
  return hasCalls ? 'calls' : 'stop'
}

function getTokens(api: WireFormat, usage: JsonObject) {
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0)
  switch (api) {
    case 'openai-chat':
      return { inputTokens: count('prompt_tokens'), outputTokens: count('completion_tokens') }
    case 'openai-responses':
      return { inputTokens: count('input_tokens'), outputTokens: count('output_tokens') }
    case 'anthropic-messages':
      return {
        inputTokens: count('input_tokens') + count('cache_read_input_tokens') + count('cache_creation_input_tokens'),
        outputTokens: count('output_tokens'),
      }
    case 'gemini':
      return {
        inputTokens: count('promptTokenCount') + count('toolUsePromptTokenCount'),
        outputTokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
      }
  }
}

const passed = new Map<string, string>()

for (const from of wireFormats) {
  for (const to of wireFormats) {
    test(`recorded ${from} streams keep their meaning for ${to} clients`, async () => {
      const failures: string[] = []
      const all = recordedStreams(apis[from])
      assert.ok(all.length > 20)
      const recorded = getShare(all, from, to)
      let seed = 0
      for (const { name, sse, received } of recorded) {
        const expected = isComplete(from, received) ? wanted(from, received) : undefined
        const idle = findDifference(await collect(sse, from, to).catch(String), expected)
        if (idle) failures.push(`${name}, gathered: ${idle}`)
        const known = new Map<string, Understood | string>() // the same stream always has the same result
        for (const [manner, cut] of Object.entries(manners)) {
          const stream = await translate(cut(encodeUtf8(sse), ++seed), from, to)
          const understood = known.get(stream) ?? (await readAsClient(to, stream))
          known.set(stream, understood)
          const difference = findDifference(understood, expected)
          if (difference) failures.push(`${name}, ${manner}: ${difference}`)
        }
      }
      const runs = recorded.length * (Object.keys(manners).length + 1)
      passed.set(`${from} ${to}`, `${runs - failures.length}/${runs}`)
      assert.equal(failures.slice(0, 10), [], `${failures.length} of ${runs} failed`)
    })
  }
}

function findDifference(
  understood: Understood | string,
  expected: Partial<Understood> | undefined,
): string | undefined {
  if (typeof understood === 'string' || !expected)
    return typeof understood === 'string' && !expected ? undefined : String(JSON.stringify(understood))
  const different = Object.entries(expected).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(understood[field as keyof Understood]), // `field` is a key of the same type
  )
  if (different.length === 0) return undefined
  return different
    .map(
      ([field, value]) =>
        `${field} ${JSON.stringify(understood[field as keyof Understood])?.slice(0, 200)} instead of ${JSON.stringify(value)?.slice(0, 200)}`,
    )
    .join('; ')
}

test.after(() => {
  const width = 20
  console.log(['', ...wireFormats].map((name) => name.padStart(width)).join(''))
  for (const from of wireFormats)
    console.log(
      [from, ...wireFormats.map((to) => passed.get(`${from} ${to}`) ?? '-')]
        .map((cell) => cell.padStart(width))
        .join(''),
    )
})
