import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { busyMs } from '../../support/cpu-time.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { fullResponses, output } from './responses.ts'
import { byteByByte, bytesResponse, delta, getEvents, openGateway, providerOf, request } from './support.ts'

const test = suite('cases: how streams are split into bytes')

let chunks: Iterable<Uint8Array> = []
const { world } = await openGateway(() => bytesResponse(chunks))

/** Returns the result that a client of the format gets from a provider's bytes. */
async function readResult(from: WireFormat, client: WireFormat, sent: Iterable<Uint8Array>) {
  chunks = sent
  const response = await request(world, { client, model: `${providerOf[from]}/m`, stream: true })
  assert.is(response.status, 200)
  return clients[client](response)
}

const WORDS = '日本語 🎉 é — "\\u00e9"\n'
const toBytes = (from: WireFormat, ...pieces: string[]) => encodeUtf8(getEvents(from, output[from](...pieces)).join(''))

for (const from of wireFormats) {
  for (const client of wireFormats) {
    test(`characters split across chunks arrive intact (${from} provider, ${client} client)`, async () => {
      const bytes = toBytes(from, WORDS, '👩‍👩‍👧')
      const { text, finish } = await readResult(from, client, byteByByte(bytes))
      assert.equal([text, finish], [`${WORDS}👩‍👩‍👧`, 'stop'])
    })
  }
}

for (const client of wireFormats) {
  test(`Unicode line separators are escaped for clients that split lines at them (${client} client)`, async () => {
    const from = client === 'openai-chat' ? 'gemini' : 'openai-chat'
    const text = 'one\u2028two\u2029three'
    const responses = [() => bytesResponse([toBytes(from, text)]), () => json(getFull(from, text))]
    for (const respond of responses) {
      const { world } = await openGateway(respond)
      const response = await request(world, { client, model: `${providerOf[from]}/m`, stream: true })
      assert.not.match(await response.clone().text(), /[\u2028\u2029]/)
      assert.is((await clients[client](response)).text, text)
    }
  })
}

/** Returns the shortest complete response with different text. */
const getFull = (from: WireFormat, text: string): unknown =>
  JSON.parse(JSON.stringify(fullResponses[from]).replace('"a"', JSON.stringify(text)))

test('a character split between any of its bytes arrives intact', async () => {
  const bytes = toBytes('openai-chat', '🎉')
  const index = bytes.indexOf(0xf0)
  for (const cut of [index, index + 1, index + 2, index + 3, index + 4]) {
    const { text } = await readResult('openai-chat', 'anthropic-messages', [
      bytes.subarray(0, cut),
      bytes.subarray(cut),
    ])
    assert.is(text, '🎉')
  }
})

/** Variations in line endings, spaces after colons, events without content, and the final blank line. */
const rewritten: Record<string, (text: string) => string[]> = {
  CRLF: (text) => [text.replaceAll('\n', '\r\n')],
  'lone CR': (text) => [text.replaceAll('\n', '\r')],
  'CR and LF in two chunks': (text) => text.replaceAll('\n', '\r\n').split(/(?<=\r)/),
  'no space after the colon': (text) => [text.replace(/^(data|event): /gm, '$1:')],
  'leading comments and blank events': (text) => [`${': OPENROUTER PROCESSING\n\n'.repeat(17)}\n\n\n`, text],
  'a last event without its blank line': (text) => [text.trimEnd()],
  'a byte order mark': (text) => [`\ufeff${text}`],
  'JSON split within a keyword, an escape, and a field name': (text) => text.split(/(?<=da)(?=ta:)|(?<="fi|\\u0)/),
}

for (const [name, rewrite] of Object.entries(rewritten)) {
  for (const from of wireFormats) {
    test(`the client gets the same response with ${name} (${from} provider)`, async () => {
      const text = getEvents(from, output[from]('one', ' é\u0001two')).join('')
      for (const client of wireFormats) {
        const result = await readResult(from, client, rewrite(text).map(encodeUtf8))
        assert.equal([result.text, result.finish], ['one é\u0001two', 'stop'], client)
      }
    })
  }
}

test('parses an event of several megabytes even if it arrives in tiny chunks', async () => {
  const long = 'x'.repeat(2_000_000)
  const bytes = encodeUtf8(
    getEvents('openai-chat', [delta({ role: 'assistant', content: long }), delta({}, 'stop')]).join(''),
  )
  function* reads() {
    for (let index = 0; index < bytes.length; index += 1_000) yield bytes.subarray(index, index + 1_000)
  }
  const startedAt = busyMs()
  for (const client of wireFormats)
    assert.is((await readResult('openai-chat', client, reads())).text.length, long.length, client)
  assert.ok(busyMs() - startedAt < 5_000, `${busyMs() - startedAt} ms of CPU time`)
})

test('surrogate pairs, NUL, and integers beyond 2^53 in arguments stay unchanged', async () => {
  const args = '{"id":12345678901234567890,"text":"\\u0000\\ud83d\\ude00😀"}'
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: args } }
  const bytes = encodeUtf8(getEvents('openai-chat', [delta({ tool_calls: [call] }), delta({}, 'tool_calls')]).join(''))
  for (const client of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const) {
    chunks = byteByByte(bytes)
    const response = await request(world, { client, model: 'chat/m', stream: true })
    const events = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
    const pieces = events.map(
      (event) =>
        event.choices?.[0]?.delta.tool_calls?.[0]?.function?.arguments ??
        event.delta?.partial_json ??
        (event.type === 'response.function_call_arguments.delta' ? event.delta : ''),
    )
    assert.is(pieces.join(''), args, client)
  }
  assert.equal((await readResult('openai-chat', 'gemini', [bytes])).calls, [{ name: 'f', args: JSON.parse(args) }])
})
