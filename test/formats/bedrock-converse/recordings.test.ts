import { eventStreamFraming } from '../../../src/formats/bedrock-converse/event-stream.ts'
import { bedrockConverse } from '../../../src/formats/bedrock-converse/format.ts'
import { converseTranslator } from '../../../src/formats/bedrock-converse/translator.ts'
import type { AssistantPart } from '../../../src/formats/canonical/parts.ts'
import { createSequence } from '../../../src/formats/canonical/sequence.ts'
import type { StreamEvent } from '../../../src/formats/canonical/stream.ts'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { recordedExchanges } from '../support/recordings.ts'

const test = suite('recorded exchanges with Converse')

const { read } = contexts(converseTranslator)

const recorded = () => recordedExchanges(['bedrock-converse'])

/** What a whole answer says, by its blocks as they are. */
function plainly(message: JsonObject) {
  const blocks = Array.isArray(message.content) ? message.content : []
  const said = { text: '', thoughts: '', calls: [] as unknown[] }
  for (const { text, reasoningContent, citationsContent, toolUse } of blocks) {
    said.text += text ?? citationsContent?.content?.map((piece: { text: string }) => piece.text).join('') ?? ''
    said.thoughts += reasoningContent?.reasoningText?.text ?? ''
    if (toolUse && toolUse.type !== 'server_tool_use') said.calls.push([toolUse.toolUseId, toolUse.name, toolUse.input])
  }
  return said
}

function understood(parts: readonly AssistantPart[]) {
  const said = { text: '', thoughts: '', calls: [] as unknown[] }
  for (const part of parts) {
    if (part.type === 'text') said.text += part.text
    if (part.type === 'reasoning') said.thoughts += part.text
    if (part.type === 'tool-call') said.calls.push([part.id, part.name, JSON.parse(part.arguments || '{}')])
  }
  return said
}

const finishes: Record<string, string> = { end_turn: 'stop', tool_use: 'tool-calls', max_tokens: 'length' }

test('whole answers say what they said', () => {
  let count = 0
  for (const { name, status, answer } of recorded()) {
    if (status !== 200 || !isObject(answer) || !isObject(answer.output) || !isObject(answer.output.message)) continue
    assert.is(bedrockConverse.errorIn(answer), undefined, name)
    const { choices, usage } = converseTranslator.parseAnswer(answer, read)
    const said = plainly(answer.output.message)
    assert.equal(understood(choices[0]?.content ?? []), said, name)
    const finish = finishes[String(answer.stopReason)]
    assert.is(choices[0]?.finish.reason, finish === 'tool-calls' && said.calls.length === 0 ? 'stop' : finish, name)
    if (isObject(answer.usage) && answer.usage.totalTokens !== undefined && answer.usage.inputTokens !== undefined)
      assert.is((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), answer.usage.totalTokens, name)
    count++
  }
  assert.ok(count > 200, String(count))
})

/** The fields that the events of a stream have among them. */
interface Payload {
  contentBlockIndex: number
  delta?: { text?: string; reasoningContent?: { text?: string }; toolUse?: { input: string } }
  start?: { toolUse?: { toolUseId: string; name: string; type?: string } }
  stopReason?: string
  usage?: JsonObject
}

/** The payloads of the frames, taken apart without the reader's help. */
function payloadsOf(bytes: Uint8Array): { type: string; payload: Payload }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const found: { type: string; payload: Payload }[] = []
  const text = new TextDecoder()
  for (let at = 0; at + 4 <= bytes.length && at + view.getUint32(at) <= bytes.length; at += view.getUint32(at)) {
    const start = at + 12 + view.getUint32(at + 4)
    const headers = text.decode(bytes.subarray(at + 12, start))
    const payload = JSON.parse(text.decode(bytes.subarray(start, at + view.getUint32(at) - 4)))
    found.push({ type: /:event-type\W+(\w+?)\W/.exec(headers)?.[1] ?? '', payload })
  }
  return found
}

/** A stream as its frames say it, merged. */
function merged(frames: ReturnType<typeof payloadsOf>) {
  const said = {
    text: '',
    thoughts: '',
    calls: [] as unknown[],
    stop: undefined as unknown,
    usage: undefined as unknown,
  }
  const inputs = new Map<number, string>()
  const calls = new Map<number, [unknown, unknown]>()
  for (const { payload } of frames) {
    const { contentBlockIndex: index, delta, start, stopReason, usage } = payload
    said.text += delta?.text ?? ''
    said.thoughts += delta?.reasoningContent?.text ?? ''
    if (start?.toolUse && start.toolUse.type !== 'server_tool_use')
      calls.set(index, [start.toolUse.toolUseId, start.toolUse.name])
    if (delta?.toolUse) inputs.set(index, (inputs.get(index) ?? '') + delta.toolUse.input)
    said.stop ??= stopReason
    said.usage ??= usage
  }
  for (const [index, call] of calls) said.calls.push([...call, inputs.get(index) ?? ''])
  return said
}

function heard(bytes: Uint8Array, size: number) {
  const events: StreamEvent[] = []
  const sequence = createSequence((event) => events.push(event))
  const reader = converseTranslator.createReader(read, sequence.take)
  const watch = bedrockConverse.watchStream()
  const parser = eventStreamFraming((event) => {
    watch.observe(event)
    reader.observe(event)
  })
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size))
  parser.end()
  reader.end()
  sequence.end()
  const parts = new Map<number, { part: AssistantPart; text: string }>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { part: event.part, text: '' })
    const part = event.type === 'part-delta' ? parts.get(event.key) : undefined
    if (part && event.type === 'part-delta') part.text += event.text
  }
  const of = (type: AssistantPart['type']) => [...parts.values()].filter(({ part }) => part.type === type)
  return {
    text: of('text')
      .map(({ text }) => text)
      .join(''),
    thoughts: of('reasoning')
      .map(({ text }) => text)
      .join(''),
    calls: of('tool-call').map(({ part, text }) => part.type === 'tool-call' && [part.id, part.name, text]),
    last: events.at(-1),
    watch,
  }
}

for (const [how, size] of [
  ['whole', Number.POSITIVE_INFINITY],
  ['byte by byte', 1],
  ['in pieces', 37],
] as const) {
  test(`streams say what their frames say, ${how}`, () => {
    let count = 0
    for (const { name, bytes } of recorded()) {
      if (!bytes) continue
      const frames = payloadsOf(bytes)
      const { stop, usage, ...said } = merged(frames)
      const { last, watch, ...told } = heard(bytes, size)
      assert.equal(told, said, name)
      assert.is(watch.started, frames.length > 1, name)
      assert.is(watch.ended, stop !== undefined, name)
      if (stop === undefined) assert.is(last?.type, 'error', `${name}: cut, and not told`)
      else assert.is(last?.type === 'end' && last.finishes[0]?.reason, finishes[String(stop)], name)
      if (isObject(usage)) assert.is(watch.usage?.outputTokens, usage.outputTokens, name)
      count++
    }
    assert.ok(count > 30, String(count))
  })
}
