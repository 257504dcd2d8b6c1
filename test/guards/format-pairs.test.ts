import { memoryStorage } from '../../adapters/storage/memory.ts'
import { pii, words } from '../../src/features/guards/guards.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { encodeUtf8 } from '../../src/lib/bytes.ts'
import type { UpstreamCall } from '../../src/lib/exchange.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { clients as readers, type Understood, wholeClients as wholeReaders } from '../formats/support/clients.ts'
import { askRaw, cutAt, getChunks, rawUpstream } from '../pipeline/support/raw.ts'
import { chatChunk } from '../pipeline/support/responses.ts'
import { type Block, getOutput } from '../pipeline/support/sdk/model-output.ts'
import type { ModelOutput } from '../pipeline/support/sdk/providers/provider.ts'
import { isCi, isFull } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { findLeaks } from './find-leaks.ts'
import { type ClientRequest, clients, WORD } from './world.ts'

const test = suite('guards with every pair of formats')

const ANN = 'ann.lee+x@example.com'
const BO = 'bo@example.org'

/** Ways to split a text, so words and placeholders arrive in several chunks. */
const splits: Record<string, (text: string) => string[]> = {
  'in one piece': (text) => [text],
  'letter by letter': (text) => [...text],
  'in chunks of three characters': (text) => text.match(/[\s\S]{1,3}/g) ?? [],
}

/** Creates the provider's output, given the placeholders for the two addresses. */
type Script = (placeholders: readonly [string, string]) => Block[]

const reasoning = (text: string): Block => ({ type: 'reasoning', text, signature: 'c2ln' })
const call = (input: JsonObject): Block => ({ type: 'call', id: 'call_1', name: 'send', input })

const createMaskedScript: Script = ([ann, bo]) => [
  reasoning(`It is for ${ann}.`),
  { type: 'text', text: `I wrote to ${ann}, "${bo.toLowerCase()}" and EMAIL-9-zzzz.` },
  call({ to: [bo], [ann]: `<${ann}> ${bo}` }),
]

const expected = {
  text: `I wrote to ${ANN}, "${BO}" and EMAIL-9-zzzz.`,
  calls: [{ name: 'send', args: { to: [BO], [ANN]: `<${ANN}> ${BO}` } }],
}

/** Output with the rejected word in different places. Each script also contains "Afterwards", which must not be delivered. */
const rejected: Record<string, Script> = {
  text: ([ann]) => [{ type: 'text', text: `For ${ann}: ${WORD} opens it. Afterwards.` }],
  reasoning: () => [reasoning(`Say ${WORD} then.`), { type: 'text', text: 'Afterwards.' }],
  'tool arguments': () => [{ type: 'text', text: 'Fine.' }, call({ a: 'Afterwards', b: [WORD] })],
  'a tool argument name': () => [{ type: 'text', text: 'Fine.' }, call({ a: 'Afterwards', [WORD]: 1 })],
}

interface Pair {
  client: WireFormat
  send(content: ModelOutput, stream: boolean, places?: Iterable<number>): Promise<string>
  placeholders: [string, string]
}

/** Adds reasoning in the format of other vendors, because OpenAI's chat responses don't include it. */
function addReasoning(
  { whole, events }: ModelOutput,
  blocks: readonly Block[],
  split: (text: string) => string[],
): ModelOutput {
  const text = blocks.find((block) => block.type === 'reasoning')?.text
  if (text === undefined) return { whole, events }
  const [first = '', ...rest] = events
  const { choices, ...response } = whole as JsonObject & { choices: { message: JsonObject }[] } // the shape that `getOutput` builds
  return {
    whole: {
      ...response,
      choices: choices.map(({ message, ...choice }) => ({
        ...choice,
        message: { ...message, reasoning_content: text },
      })),
    },
    events: [first, ...split(text).map((piece) => chatChunk({ reasoning_content: piece })), ...rest],
  }
}

/** Opens a gateway for a client with one format and a provider with another. */
async function openPair(client: WireFormat, provider: WireFormat): Promise<Pair> {
  let body: Uint8Array = encodeUtf8('{}')
  let places: Iterable<number> = []
  let sent = ''
  const upstream = (contentType: string) =>
    rawUpstream(
      (call: UpstreamCall) => {
        sent = typeof call.body === 'string' ? call.body : new TextDecoder().decode(call.body as Uint8Array)
        return getChunks(cutAt(body, places))
      },
      { contentType },
    )
  const open = async (contentType: string): Promise<Gateway> => {
    const gateway = createGateway({
      ...{ storage: memoryStorage(), fetch: upstream(contentType), logger: false, usage: false },
      guards: [words({ name: 'w', words: [WORD] }), pii({ name: 'm', types: ['email'], action: 'mask' })],
    })
    const providerSpecificData = { baseUrl: 'https://one.test/v1', prefix: 'one', format: provider }
    await gateway.api.connections.create({ provider: 'openai-compatible-one', apiKey: 'k', providerSpecificData })
    return gateway
  }
  const gateways = [await open('application/json'), await open('text/event-stream')] as const
  const { path, body: createBody }: ClientRequest = clients[client]
  const send: Pair['send'] = async (content, stream, cuts = []) => {
    body = encodeUtf8(stream ? content.events.join('') : JSON.stringify(content.whole))
    places = cuts
    const request = { ...createBody(`Write to ${ANN} and ${BO}.`), ...(client !== 'gemini' && { stream }) }
    const { text } = await askRaw(gateways[stream ? 1 : 0], path(stream), request)
    return text
  }
  await send(getOutput(provider, { blocks: [{ type: 'text', text: 'Hi' }] }), false)
  assert.not.match(sent, ANN)
  assert.not.match(sent, BO)
  const found = [...sent.matchAll(/EMAIL-\d+-\w{4}/g)].map(([placeholder]) => placeholder)
  assert.is(found.length, 2, sent)
  return { client, send, placeholders: found as [string, string] }
}

/** Reads a response like the vendor's own client. */
const read = (client: WireFormat, text: string, isStream: boolean): Promise<Understood> =>
  isStream
    ? readers[client](new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
    : wholeReaders[client](new Response(text, { headers: { 'content-type': 'application/json' } }))

/**
 * Returns byte positions to split at. With `isComplete`, the pairs together cover every position in the weekly run. Otherwise, each pair gets a
 * different sample.
 */
const listCuts = (length: number, { seed, isComplete }: { seed: number; isComplete: boolean }) => {
  const step = isFull ? (isComplete ? 11 : 97) : isCi ? (isComplete ? 41 : 293) : 797
  return Array.from({ length }, (_, index) => index).filter((index) => index % step === seed % step)
}

/** Lets the test runner see that the test isn't blocked. */
const yieldToEventLoop = () => new Promise((resolve) => setTimeout(resolve))

for (const [clientAt, client] of wireFormats.entries())
  for (const [providerAt, provider] of wireFormats.entries()) {
    /** Sends a script with every way to split it, and passes each distinct result to `judge` once. */
    async function sendAll(
      script: Script,
      finish: 'calls' | 'stop',
      judge: (text: string, isStream: boolean, placeholders: readonly string[]) => Promise<void>,
    ) {
      const pair = await openPair(client, provider)
      const seen = new Set<string>()
      const inspect = async (text: string, isStream: boolean, title: string) => {
        const stable = text.replaceAll(/[\w-]*[A-Za-z0-9]{24}/g, 'ID').replaceAll(/:\d{10}/g, ':0')
        if (seen.has(stable)) return
        seen.add(stable)
        await judge(text, isStream, pair.placeholders).catch((error: unknown) => {
          throw new Error(`${title}: ${error instanceof Error ? error.message : error}\n${text}`)
        })
      }
      for (const [index, [title, split]] of Object.entries(splits).entries()) {
        const blocks = script(pair.placeholders)
        const plain = getOutput(provider, { blocks, finish, split })
        const output = provider === 'openai-chat' ? addReasoning(plain, blocks, split) : plain
        if (index === 0) await inspect(await pair.send(output, false), false, 'whole')
        const length = encodeUtf8(output.events.join('')).length
        const every = Array.from({ length }, (_, place) => place)
        await inspect(await pair.send(output, true), true, title)
        await inspect(await pair.send(output, true, every), true, `${title}, byte by byte`)
        if (index === 1) continue
        const isComplete = index === 2 && (script === createMaskedScript || script === rejected.text)
        for (const place of listCuts(length, { seed: 31 * clientAt + 7 * providerAt, isComplete })) {
          if (place % 100 === 0) await yieldToEventLoop()
          await inspect(await pair.send(output, true, [place]), true, `${title}, cut at ${place}`)
        }
      }
    }

    test(`every placeholder is restored (${client} client, ${provider} provider)`, async () => {
      await sendAll(createMaskedScript, 'calls', async (text, isStream, placeholders) => {
        const isSigned = client === 'anthropic-messages'
        const understood = await read(client, text, isStream)
        const { calls } = understood
        assert.equal({ text: understood.text, calls }, expected)
        const received = `It is for ${isSigned ? placeholders[0] : ANN}.`
        assert.ok(understood.reasoning === '' || understood.reasoning === received, understood.reasoning)
        const leaks = placeholders.flatMap((placeholder) => findLeaks(text, placeholder))
        assert.equal(isSigned ? leaks.filter((path) => !/thinking|bytes/.test(path)) : leaks, [])
      })
    })

    for (const [location, script] of Object.entries(rejected))
      test(`a blocked word in ${location} isn't delivered (${client} client, ${provider} provider)`, async () => {
        await sendAll(script, location.includes('tool') ? 'calls' : 'stop', async (text, isStream, placeholders) => {
          assert.equal(findLeaks(text, WORD), [])
          assert.equal(findLeaks(text, 'Afterwards'), [])
          assert.equal(
            placeholders.flatMap((placeholder) => findLeaks(text, placeholder)),
            [],
          )
          const { finish, calls } = await read(client, text, isStream)
          assert.is(finish, 'filter')
          if (location.includes('arguments')) assert.equal(calls, [])
        })
      })
  }
