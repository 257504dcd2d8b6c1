import { createReasoningMemory } from '../../src/formats/canonical/reasoning-memory.ts'
import type { StreamEvent } from '../../src/formats/canonical/stream.ts'
import { geminiTranslator } from '../../src/formats/gemini/translator.ts'
import { chatTranslator } from '../../src/formats/openai-chat/translator.ts'
import { responsesTranslator } from '../../src/formats/openai-responses/translator.ts'
import type { Translator } from '../../src/formats/translator.ts'
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

/** A writer, and the bytes that it holds more after a part of so many characters than before. */
async function heldBy(translator: Translator, type: 'text' | 'reasoning', characters: number) {
  const { write, responseWarnings } = contexts(translator)
  let last = ''
  const writer = translator.createWriter(write(), (event) => {
    last = event
  })
  writer.push({ type: 'start' })
  writer.push(begin(type))
  const before = await bytesHeld()
  for (let said = 0; said < characters; said += WORD.length) writer.push({ type: 'part-delta', key: 0, text: WORD })
  return { writer, responseWarnings, last: () => last, bytes: (await bytesHeld()) - before }
}

test('texts without citations are not kept for a Gemini client', async () => {
  const { bytes } = await heldBy(geminiTranslator, 'text', 4 * MIB)
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
})

test('a citation of Gemini has no position if the text was too long to be kept', async () => {
  const { writer, last } = await heldBy(geminiTranslator, 'text', MIB)
  writer.push({ type: 'part-citation', key: 0, citation: { url: 'https://a.test', start: 0, end: 4 } })
  for (const event of [close, end]) writer.push(event)
  const { groundingMetadata } = JSON.parse(last().slice('data: '.length)).candidates[0]
  assert.equal(groundingMetadata.groundingChunks, [{ web: { uri: 'https://a.test' } }])
  assert.equal(groundingMetadata.groundingSupports, [{ groundingChunkIndices: [0] }])
})

test('a stream for a Responses client keeps little more than the text that the last event repeats', async () => {
  const { writer, last, bytes } = await heldBy(responsesTranslator, 'text', 4 * MIB)
  assert.ok(bytes < 6 * MIB, `${bytes} bytes`)
  for (const event of [close, end]) writer.push(event)
  const { response } = JSON.parse(last().slice(last().indexOf('{')))
  assert.is(response.output[0].content[0].text.length, Math.ceil((4 * MIB) / WORD.length) * WORD.length)
})

test('a stream for a Chat client keeps a mebibyte of reasoning for its detail, and drops a longer one by name', async () => {
  const kept = await heldBy(chatTranslator, 'reasoning', MIB / 2)
  for (const event of [signed, close]) kept.writer.push(event)
  kept.writer.push(end)
  assert.equal(kept.responseWarnings.list(), [])
  const long = await heldBy(chatTranslator, 'reasoning', 4 * MIB)
  assert.ok(long.bytes < MIB / 2, `${long.bytes} bytes`)
  for (const event of [signed, close, end]) long.writer.push(event)
  assert.equal(long.responseWarnings.list(), ['dropped:answer.reasoning_details'])
})

test('reasoning is kept for a later turn up to the limit of the memory', async () => {
  const listen = createReasoningMemory().listen({ owner: '', turns: [] }, () => {})
  listen(begin('reasoning'))
  const before = await bytesHeld()
  for (let said = 0; said < 4 * MIB; said += WORD.length) listen({ type: 'part-delta', key: 0, text: WORD })
  const bytes = (await bytesHeld()) - before
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
})

test('the text of a Responses provider is not kept, and what its end adds is emitted', async () => {
  const { read } = contexts(responsesTranslator)
  let text = ''
  let isKept = false
  const reader = responsesTranslator.createReader(read, (event) => {
    if (isKept && event.type === 'part-delta') text += event.text
  })
  const observe = (type: string, more: object) =>
    reader.observe({ event: type, data: JSON.stringify({ type, output_index: 0, content_index: 0, ...more }) })
  const before = await bytesHeld()
  for (let said = 0; said < MIB; said += WORD.length) observe('response.output_text.delta', { delta: WORD })
  const bytes = (await bytesHeld()) - before
  assert.ok(bytes < MIB / 2, `${bytes} bytes`)
  isKept = true
  const whole = WORD.repeat(Math.ceil(MIB / WORD.length))
  observe('response.output_text.done', { text: `${whole}and more` })
  assert.is(text, 'and more')
  observe('response.output_text.done', { text: `another ${whole}` })
  assert.is(text, 'and more', 'nothing of a text that is another')
})
