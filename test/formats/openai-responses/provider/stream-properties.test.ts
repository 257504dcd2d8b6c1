import fc from 'fast-check'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { FinishReason } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { anyUrl } from '../../../support/any-string.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { getEvents, usage, written } from '../support/events.ts'
import { answerOf, ours, payloads, readStream, receivedBy } from '../support/streams.ts'

const test = suite('response streams with arbitrary content')

const output = fc.string({ minLength: 1, unit: 'grapheme' })
const format = fc.constantFrom('openai-chat' as const, 'anthropic-messages' as const, 'openai-responses' as const)
const state = fc.record({
  origin: fc.record({ format, account: output }),
  kind: fc.constantFrom('signature' as const, 'encrypted' as const),
  data: output,
})
const citation = fc.record({ url: anyUrl, title: output })
const part: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record(
    {
      type: fc.constant('text' as const),
      text: output,
      phase: fc.constantFrom('commentary' as const, 'final_answer' as const),
      citations: fc.array(citation, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constant('refusal' as const), text: output }),
  fc.record({ type: fc.constant('reasoning' as const), text: output, state }, { requiredKeys: ['type', 'text'] }),
  fc.record({ type: fc.constant('reasoning' as const), text: fc.constant(''), state }),
  fc.record(
    {
      type: fc.constant('tool-call' as const),
      id: output,
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      arguments: fc.oneof(
        fc.json().filter((text) => text !== 'null'),
        fc.constant('{"cut'),
      ),
      isFreeForm: fc.constant(true as const),
    },
    { requiredKeys: ['type', 'id', 'name', 'arguments'] },
  ),
)

const content = fc.uniqueArray(part, { selector: (each) => ('id' in each ? each.id : each), maxLength: 6 })
const reason = fc.constantFrom<FinishReason>('stop', 'length', 'content-filter')
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })

const createCutter = (sizes: readonly number[]) => {
  let index = 0
  return () => sizes[index++ % sizes.length] ?? 1
}

/** Removes IDs, which change each time, and fields that the client adds. */
const bare = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, inner) => (/^(?:id|parsed|parsed_arguments)$/.test(name) ? undefined : inner)),
  )

test("the events that OpenAI's client reads add up to the final response", async () => {
  await fc.assert(
    fc.asyncProperty(content, reason, lengths, fc.boolean(), async (parts, why, sizes, isMixed) => {
      const events = written(getEvents(parts, { reason: why, cut: createCutter(sizes), isMixed }))
      let snapshot: Response | undefined
      const recorded = payloads(events) as unknown as ResponseStreamEvent[] // the accumulator checks the events
      for (const event of recorded.slice(0, -1)) snapshot = accumulateResponse(event, snapshot)
      const received = await receivedBy(events)
      assert.equal(received.output.map(bare), snapshot?.output.map(bare))
      const { write } = contexts(responsesTranslator, ours)
      const choices = [{ content: parts, finish: { reason: why } }]
      const full = responsesTranslator.writeResponse({ choices, usage }, write())
      assert.equal(bare(received.output), bare(full.output))
      assert.is(received.status, full.status)
      assert.equal(received.usage, full.usage)
    }),
    { numRuns: 50 },
  )
})

test('parsing a stream has the same result as parsing the complete response', () => {
  fc.assert(
    fc.property(content, lengths, (parts, sizes) => {
      const { write, read } = contexts(responsesTranslator, ours)
      const choices = [{ content: parts, finish: { reason: 'stop' as const } }]
      const full = responsesTranslator.parseResponse(
        responsesTranslator.writeResponse({ choices, usage }, write()),
        read,
      )
      const streamed = readStream(written(getEvents(parts, { cut: createCutter(sizes) })).join(''))
      assert.equal(answerOf(streamed.events).content.map(bare), full.choices[0]?.content.map(bare))
      assert.equal(streamed.finish, full.choices[0]?.finish)
      assert.equal(streamed.usage, full.usage)
    }),
    { numRuns: 50 },
  )
})
