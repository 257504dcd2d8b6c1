import type { StreamEvent } from '../../src/protocols/formats/canonical/canonical-stream.ts'
import { createReasoningMemory } from '../../src/protocols/formats/canonical/reasoning-memory.ts'
import { geminiTranslator } from '../../src/protocols/formats/gemini/gemini-translator.ts'
import { chatTranslator } from '../../src/protocols/formats/openai-chat/chat-translator.ts'
import { responsesTranslator } from '../../src/protocols/formats/openai-responses/responses-translator.ts'
import type { Translator } from '../../src/protocols/formats/translator.ts'
import { bytesHeld } from '../support/garbage.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'

const MIB = 1024 * 1024
const WORD = 'word '

const test = suite('long streams')

const begin = (type: 'text' | 'reasoning'): StreamEvent => ({
  ...{ type: 'part-start', key: 0, candidate: 0, part: { type, text: '' } },
})
const signed: StreamEvent = {
  ...{ type: 'part-state', key: 0 },
  state: { origin: { format: 'anthropic-messages', account: 'a' }, kind: 'signature', data: 'sig' },
}
const close: StreamEvent = { type: 'part-end', key: 0 }
const end: StreamEvent = { type: 'end', finishes: [{ reason: 'stop' }] }

/** Returns a writer, and the number of bytes of memory that a part of this many characters adds to it. */
async function measureBuffer(translator: Translator, type: 'text' | 'reasoning', characters: number) {
  const { write, responseWarnings } = contexts(translator)
  let last = ''
  const writer = translator.createWriter(write(), (event) => {
    last = event
  })
  writer.push({ type: 'start' })
  writer.push(begin(type))
  const before = await bytesHeld()
  for (let message = 0; message < characters; message += WORD.length)
    writer.push({ type: 'part-delta', key: 0, text: WORD })
  return { writer, responseWarnings, last: () => last, bytes: (await bytesHeld()) - before }
}

test("text without citations isn't buffered for a Gemini client", async () => {
  const { bytes } = await measureBuffer(geminiTranslator, 'text', 4 * MIB)
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
})

test('a Gemini citation has no position if the text was too long to buffer', async () => {
  const { writer, last } = await measureBuffer(geminiTranslator, 'text', MIB)
  writer.push({ type: 'part-citation', key: 0, citation: { url: 'https://a.test', start: 0, end: 4 } })
  for (const event of [close, end]) writer.push(event)
  const { groundingMetadata } = JSON.parse(last().slice('data: '.length)).candidates[0]
  assert.equal(groundingMetadata.groundingChunks, [{ web: { uri: 'https://a.test' } }])
  assert.equal(groundingMetadata.groundingSupports, [{ groundingChunkIndices: [0] }])
})

test('a Responses stream buffers little more than the text that its last event repeats', async () => {
  const { writer, last, bytes } = await measureBuffer(responsesTranslator, 'text', 4 * MIB)
  assert.ok(bytes < 6 * MIB, `${bytes} bytes`)
  for (const event of [close, end]) writer.push(event)
  const { response } = JSON.parse(last().slice(last().indexOf('{')))
  assert.is(response.output[0].content[0].text.length, Math.ceil((4 * MIB) / WORD.length) * WORD.length)
})

test('a Chat Completions stream drops reasoning details over 1 MiB with a warning', async () => {
  const kept = await measureBuffer(chatTranslator, 'reasoning', MIB / 2)
  for (const event of [signed, close]) kept.writer.push(event)
  kept.writer.push(end)
  assert.equal(kept.responseWarnings.list(), [])
  const long = await measureBuffer(chatTranslator, 'reasoning', 4 * MIB)
  assert.ok(long.bytes < MIB / 2, `${long.bytes} bytes`)
  for (const event of [signed, close, end]) long.writer.push(event)
  assert.equal(long.responseWarnings.list(), ['dropped:answer.reasoning_details'])
})

test("reasoning over the memory limit isn't buffered for a later turn", async () => {
  const listen = createReasoningMemory().storeFromStream({ owner: '', turns: [] }, () => {})
  listen(begin('reasoning'))
  const before = await bytesHeld()
  for (let message = 0; message < 4 * MIB; message += WORD.length) listen({ type: 'part-delta', key: 0, text: WORD })
  const bytes = (await bytesHeld()) - before
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
})

test("text from a Responses provider isn't buffered, and text only in the final event is emitted", async () => {
  const { read } = contexts(responsesTranslator)
  let text = ''
  let isKept = false
  const reader = responsesTranslator.createReader(read, (event) => {
    if (isKept && event.type === 'part-delta') text += event.text
  })
  const observe = (type: string, extra: object) =>
    reader.observe({ event: type, data: JSON.stringify({ type, output_index: 0, content_index: 0, ...extra }) })
  const before = await bytesHeld()
  for (let message = 0; message < MIB; message += WORD.length) observe('response.output_text.delta', { delta: WORD })
  const bytes = (await bytesHeld()) - before
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
  isKept = true
  const full = WORD.repeat(Math.ceil(MIB / WORD.length))
  observe('response.output_text.done', { text: `${full}and more` })
  assert.is(text, 'and more')
  observe('response.output_text.done', { text: `another ${full}` })
  assert.is(text, 'and more', "text that doesn't match isn't repeated")
})
