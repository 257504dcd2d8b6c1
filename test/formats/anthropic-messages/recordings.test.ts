import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import fc from 'fast-check'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { createSseParser } from '../../../src/lib/sse.ts'
import { anthropicTranslator } from '../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { unsealState } from '../../../src/protocols/formats/canonical/canonical-state.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { type Received, recordedExchanges, recordedStreams } from '../support/recordings.ts'

const test = suite('recorded Messages exchanges')

/** Translates a stream to the canonical format and back, in small chunks. */
function translate(bytes: Uint8Array, cuts: readonly number[]): string[] {
  const { read: readerContext, write } = contexts(anthropicTranslator)
  const events: string[] = []
  const stream = translateStream(
    { from: anthropicTranslator, to: anthropicTranslator, readerContext, writerContext: write() },
    (event) => events.push(event),
  )
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    stream.push(bytes.subarray(from, cut))
    from = cut
  }
  stream.end()
  return events
}

/** Reads a stream with Anthropic's client. */
async function receivedBy(events: readonly string[]) {
  const lines: string[] = []
  const parser = createSseParser(({ data }) => lines.push(`${data}\n`))
  for (const event of events) parser.push(event)
  const { body } = new Response(lines.join(''))
  assert.ok(body)
  const message = await MessageStream.fromReadableStream(body).finalMessage()
  const filterByType = <T extends string>(type: T) =>
    message.content.flatMap((block) => (block.type === type ? [block as typeof block & { type: T }] : []))
  return {
    text: filterByType('text')
      .map(({ text }) => text)
      .join(''),
    reasoning: filterByType('thinking')
      .map(({ thinking }) => thinking)
      .join(''),
    signatures: filterByType('thinking').map(
      ({ signature }) => unsealState(signature, { format: 'gemini', kind: 'text' }).kind,
    ),
    redacted: filterByType('redacted_thinking').length,
    calls: filterByType('tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
    finish: message.stop_reason,
    usage: message.usage,
  }
}

async function assertSame(events: readonly string[], received: Received, name: string) {
  const result = await receivedBy(events)
  assert.is(result.text, received.text, name)
  assert.is(result.reasoning, received.reasoning ?? '', name)
  assert.equal(result.calls, received.tool_calls, name)
  assert.is(result.finish, received.finish, name)
  for (const count of ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'])
    assert.is(Object(result.usage)[count], received.usage?.[count], `${name}: ${count}`)
  const { signatures, redacted } = Object(received)
  assert.is(result.signatures.length, signatures ?? 0, name)
  assert.ok(
    result.signatures.every((kind) => kind === 'signature'),
    name,
  )
  assert.is(result.redacted, redacted ?? 0, name)
}

test("Anthropic's client reads translated recordings like the originals", async () => {
  const recorded = recordedStreams('anthropic')
  assert.ok(recorded.length > 30)
  for (const { name, sse, received } of recorded) await assertSame(translate(encodeUtf8(sse), []), received, name)
})

test("Anthropic's client reads translated recordings like the originals, wherever the recordings are split", () => {
  for (const { name, sse } of recordedStreams('anthropic')) {
    const bytes = encodeUtf8(sse)
    const full = translate(bytes, []).join('')
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 30 }).map((at) => at.sort((a, b) => a - b))
    fc.assert(
      fc.property(cuts, (at) => translate(bytes, at).join('') === full),
      { numRuns: 3 },
    )
    const isShort = bytes.length < 8_000
    if (isShort) assert.is(translate(bytes, [...bytes.keys()]).join(''), full, name)
  }
})

const isMessages = (url: string) => /\/v1\/messages(\?|$)/.test(url)

test('a recorded response keeps its meaning when it is parsed and rewritten', () => {
  let understood = 0
  for (const { name, url, response } of recordedExchanges(['anthropic'])) {
    if (!isMessages(url) || !isObject(response) || !Array.isArray(response.content)) continue
    const { read, write } = contexts(anthropicTranslator)
    const again = anthropicTranslator.writeResponse(anthropicTranslator.parseResponse(response, read), write())
    assert.equal(getBlocks(again.content), getBlocks(response.content), name)
    assert.is(again.stop_reason, response.stop_reason, name)
    assert.is(again.stop_sequence, response.stop_sequence, name)
    const { usage } = response
    if (isObject(usage))
      for (const count of ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'])
        assert.is(Object(again.usage)[count], usage[count], `${name}: ${count}`)
    understood++
  }
  assert.ok(understood > 300, String(understood))
})

/** Returns the blocks that have a canonical equivalent, with their signatures unsealed. */
function getBlocks(content: unknown): JsonObject[] {
  const blocks: JsonObject[] = Array.isArray(content) ? content.filter(isObject) : []
  return blocks.flatMap((block): JsonObject[] => {
    const { type, text, thinking, signature, data, id, name, input } = block
    const citations = Array.isArray(block.citations) ? block.citations.length : 0
    const bare = (sealed: unknown) => unsealState(String(sealed), { format: 'gemini', kind: 'text' }).data
    if (type === 'text') return [{ text, citations }]
    if (type === 'thinking') return [{ thinking, signature: bare(signature) }]
    if (type === 'redacted_thinking') return [{ data: bare(data) }]
    return type === 'tool_use' ? [{ id, name, input }] : []
  })
}

test('parses all recorded errors', () => {
  const kinds = recordedExchanges(['anthropic'])
    .filter(({ url, status }) => isMessages(url) && status >= 400)
    .map(({ status, response }) =>
      anthropicTranslator.parseError({ status, body: response, header: () => undefined, nowMs: 0 }),
    )
    .map(({ kind }) => kind)
  assert.equal(kinds.sort(), ['authentication', 'bad-request', 'context-overflow'])
})
