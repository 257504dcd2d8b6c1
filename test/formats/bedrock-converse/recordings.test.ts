import { isObject } from '../../../src/lib/json.ts'
import { eventStreamFraming } from '../../../src/protocols/formats/bedrock-converse/converse-event-stream.ts'
import { bedrockConverse } from '../../../src/protocols/formats/bedrock-converse/converse-format.ts'
import { converseTranslator } from '../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import { createEventSequencer } from '../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { loadResponseReader } from '../../../src/protocols/formats/format.ts'
import { operations } from '../../../src/protocols/formats/model-operations.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { getPayloads, listRecorded, merge, simplify } from './support/recorded.ts'

const reader = await loadResponseReader(bedrockConverse, operations.generate)

const test = suite('recorded Converse exchanges')

const { read } = contexts(converseTranslator)

function summarize(parts: readonly AssistantPart[]) {
  const contents = { text: '', thoughts: '', calls: [] as unknown[] }
  for (const part of parts) {
    if (part.type === 'text') contents.text += part.text
    if (part.type === 'reasoning') contents.thoughts += part.text
    if (part.type === 'tool-call') contents.calls.push([part.id, part.name, JSON.parse(part.arguments || '{}')])
  }
  return contents
}

const finishes: Record<string, string> = { end_turn: 'stop', tool_use: 'tool-calls', max_tokens: 'length' }

test('parses recorded non-streaming responses', () => {
  let count = 0
  for (const { name, status, response } of listRecorded()) {
    if (status !== 200 || !isObject(response) || !isObject(response.output) || !isObject(response.output.message))
      continue
    assert.is(reader.getError(response), undefined, name)
    const { choices, usage } = converseTranslator.parseResponse(response, read)
    const contents = simplify(response.output.message)
    assert.equal(summarize(choices[0]?.content ?? []), contents, name)
    const finish = finishes[String(response.stopReason)]
    assert.is(choices[0]?.finish.reason, finish === 'tool-calls' && contents.calls.length === 0 ? 'stop' : finish, name)
    if (
      isObject(response.usage) &&
      response.usage.totalTokens !== undefined &&
      response.usage.inputTokens !== undefined
    )
      assert.is((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), response.usage.totalTokens, name)
    count++
  }
  assert.ok(count > 200, String(count))
})

const watchStream = await reader.loadStateFactory()

function readResult(bytes: Uint8Array, size: number) {
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = converseTranslator.createReader(read, sequence.push)
  const watch = watchStream()
  const parser = eventStreamFraming((event) => {
    watch.observe(event)
    reader.observe(event)
  })
  for (let index = 0; index < bytes.length; index += size) parser.push(bytes.subarray(index, index + size))
  parser.end()
  reader.end()
  sequence.end()
  const parts = new Map<number, { part: AssistantPart; text: string }>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { part: event.part, text: '' })
    const part = event.type === 'part-delta' ? parts.get(event.key) : undefined
    if (part && event.type === 'part-delta') part.text += event.text
  }
  const filterByType = (type: AssistantPart['type']) => [...parts.values()].filter(({ part }) => part.type === type)
  return {
    text: filterByType('text')
      .map(({ text }) => text)
      .join(''),
    thoughts: filterByType('reasoning')
      .map(({ text }) => text)
      .join(''),
    calls: filterByType('tool-call').map(({ part, text }) => part.type === 'tool-call' && [part.id, part.name, text]),
    last: events.at(-1),
    watch,
  }
}

for (const [mode, size] of [
  ['in one chunk', Number.POSITIVE_INFINITY],
  ['byte by byte', 1],
  ['in pieces', 37],
] as const) {
  test(`parses recorded streams ${mode}`, () => {
    let count = 0
    for (const { name, bytes } of listRecorded()) {
      if (!bytes) continue
      const frames = getPayloads(bytes)
      const { stop, usage, ...contents } = merge(frames)
      const { last, watch, ...result } = readResult(bytes, size)
      assert.equal(result, contents, name)
      assert.is(watch.hasStarted, frames.length > 1, name)
      assert.is(watch.hasEnded, stop !== undefined, name)
      if (stop === undefined) assert.is(last?.type, 'error', `${name}: truncated without an error`)
      else assert.is(last?.type === 'end' && last.finishes[0]?.reason, finishes[String(stop)], name)
      if (isObject(usage)) assert.is(watch.usage?.outputTokens, usage.outputTokens, name)
      count++
    }
    assert.ok(count > 30, String(count))
  })
}
