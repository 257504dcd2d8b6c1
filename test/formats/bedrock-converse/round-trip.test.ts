import fc from 'fast-check'
import { concatBytes } from '../../../src/lib/bytes.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { eventStreamFraming } from '../../../src/protocols/formats/bedrock-converse/converse-event-stream.ts'
import { converseTranslator } from '../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import { createEventSequencer } from '../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { eventFrame } from '../support/event-stream.ts'

const test = suite('Converse response round trips')

const textArbitrary = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.trim() === text)
const base64 = fc.base64String({ minLength: 4 })

/** A block, and its deltas before they are split. */
const block = fc.oneof(
  textArbitrary.map((text) => ({ text })),
  fc
    .tuple(textArbitrary, base64)
    .map(([text, signature]) => ({ reasoningContent: { reasoningText: { text, signature } } })),
  base64.map((redactedContent) => ({ reasoningContent: { redactedContent } })),
  fc
    .record({
      toolUseId: fc.stringMatching(/^tooluse_[A-Za-z0-9]{1,9}$/),
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      input: fc.dictionary(fc.string(), fc.jsonValue()).map((value): JsonObject => JSON.parse(JSON.stringify(value))),
    })
    .map((toolUse) => ({ toolUse: { ...toolUse } })),
)
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never

const blocks = fc.array(block, { minLength: 1, maxLength: 6 })
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })

const { read, warnings, target } = contexts(converseTranslator, { format: 'bedrock-converse' })

const createMessage = (content: readonly Block[]) =>
  converseTranslator.parseResponse(
    { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' },
    read,
  )

function* pieces(text: string, lengths: readonly number[]) {
  for (let index = 0, i = 0; index < text.length; i++) {
    const end = index + (lengths[i % lengths.length] ?? 1)
    yield text.slice(index, end)
    index = end
  }
}

function* getFrames(content: readonly Block[], lengths: readonly number[]) {
  yield eventFrame('messageStart', { role: 'assistant' })
  for (const [contentBlockIndex, item] of content.entries()) {
    const delta = (what: object) => eventFrame('contentBlockDelta', { contentBlockIndex, delta: what })
    if ('text' in item) for (const text of pieces(item.text, lengths)) yield delta({ text })
    else if ('toolUse' in item) {
      const { input, ...toolUse } = item.toolUse
      yield eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } })
      for (const piece of pieces(JSON.stringify(input), lengths)) yield delta({ toolUse: { input: piece } })
    } else if ('reasoningText' in item.reasoningContent) {
      const { text, signature } = item.reasoningContent.reasoningText
      for (const piece of pieces(text, lengths)) yield delta({ reasoningContent: { text: piece } })
      yield delta({ reasoningContent: { signature } })
    } else yield delta({ reasoningContent: item.reasoningContent })
    yield eventFrame('contentBlockStop', { contentBlockIndex })
  }
  yield eventFrame('messageStop', { stopReason: 'end_turn' })
  yield eventFrame('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } })
}

function readResult(bytes: Uint8Array, lengths: readonly number[]) {
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = converseTranslator.createReader(read, sequence.push)
  const parser = eventStreamFraming(reader.observe)
  for (let index = 0, i = 0; index < bytes.length; i++) {
    const end = index + (lengths[i % lengths.length] ?? 1)
    parser.push(bytes.subarray(index, end))
    index = end
  }
  parser.end()
  reader.end()
  sequence.end()
  return events
}

function getParts(events: readonly StreamEvent[]): AssistantPart[] {
  const parts = new Map<number, AssistantPart>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { ...event.part })
    if (event.type !== 'part-delta' && event.type !== 'part-state') continue
    const part = parts.get(event.key)
    if (part?.type === 'reasoning' && event.type === 'part-state') part.state = event.state
    if (event.type !== 'part-delta') continue
    if (part?.type === 'tool-call') part.arguments += event.text
    else if (part && 'text' in part) part.text += event.text
  }
  return [...parts.values()]
}

test('parses a stream the same as the complete response, wherever text and frames are split', () => {
  fc.assert(
    fc.property(blocks, sizes, sizes, (content, lengths, chunks) => {
      const events = readResult(concatBytes([...getFrames(content, lengths)]), chunks)
      assert.equal(getParts(events), createMessage(content).choices[0]?.content)
      const last = events.at(-1)
      assert.equal(last?.type === 'end' && last.finishes[0], createMessage(content).choices[0]?.finish)
    }),
    { numRuns: 200 },
  )
})

test('a response is sent back in its original blocks', () => {
  fc.assert(
    fc.property(blocks, (content) => {
      const parts = createMessage(content).choices[0]?.content ?? []
      const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }
      const turns = [user, { role: 'assistant' as const, content: parts }, user]
      const request = { model: 'm', stream: false, streamUsage: false, turns, tools: [], options: {} }
      const { body } = converseTranslator.writeRequest(request, target)
      const hi = () => ({ role: 'user', content: [{ text: 'Hi' }] })
      assert.equal(body, { messages: [hi(), { role: 'assistant', content }, hi()] })
      assert.equal(warnings.list(), [])
    }),
    { numRuns: 200 },
  )
})
