import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { recordedExchanges, recordedStreams } from '../support/recordings.ts'
import { ours, readStream, receivedBy, translate } from './support/streams.ts'

const test = suite('recorded responses')

/** Returns the complete response at the end of a recorded stream. */
function lastResponse(sse: string): JsonObject {
  const data = sse.split(/\r?\n/).flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
  const last = data.findLast((event) => event.response)
  return last.response
}

/** Creates a generator that returns the same numbers each time. */
function getNumbers(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return 1 + (state % 97)
  }
}

for (const [mode, size, longest] of [
  ['in one chunk', undefined, Number.POSITIVE_INFINITY],
  ['in chunks', getNumbers(7), Number.POSITIVE_INFINITY],
  ['byte by byte', () => 1, 20_000],
] as const) {
  test(`the OpenAI SDK reads translated recordings the same as the originals, ${mode}`, async () => {
    const recorded = recordedStreams('responses').filter(({ sse }) => sse.length < longest)
    assert.ok(recorded.length >= 20)
    for (const { name, sse, received } of recorded) {
      const result = await receivedBy(translate(sse, size))
      assert.is(result.output_text, received.text, name)
      const calls = result.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      assert.equal(
        calls.map((call) => [call.call_id, call.name, call.arguments]),
        received.tool_calls?.map((call) => [call.id, call.name, call.arguments]),
        name,
      )
      assert.is(result.status, received.finish, name)
      assert.is(result.usage?.input_tokens, received.usage?.input_tokens, name)
      assert.is(result.usage?.output_tokens, received.usage?.output_tokens, name)
      assert.equal(result.usage?.output_tokens_details, received.usage?.output_tokens_details, name)
    }
  })
}

test('the events of a recorded stream add up to its final response', () => {
  for (const { name, sse } of recordedStreams('responses')) {
    const { read } = contexts(responsesTranslator, ours)
    const { choices, usage } = responsesTranslator.parseResponse(lastResponse(sse), read)
    const streamed = readStream(sse)
    assert.equal(streamed.content.map(round), choices[0]?.content.map(round), name)
    assert.equal(streamed.finish, choices[0]?.finish, name)
    const { serviceTier, ...tokens } = streamed.usage ?? {} // a complete response has it in a separate field
    assert.equal(tokens, usage ?? {}, name)
  }
})

/** Drops what differs between events: providers encrypt each event separately, and round probabilities differently in each. */
function round(part: AssistantPart): AssistantPart {
  if (part.type === 'reasoning' && part.state) return { ...part, state: { ...part.state, data: '' } }
  if (part.type !== 'text' || !part.logprobs) return part
  return { ...part, logprobs: part.logprobs.map((token) => ({ ...token, logprob: Math.round(token.logprob * 100) })) }
}

const exchanges = () => recordedExchanges(['openai-responses']).filter(({ url }) => /\/responses(?:\?|$)/.test(url))

test('parses all recorded responses', () => {
  let understood = 0
  for (const { name, status, response } of exchanges()) {
    if (status !== 200 || !isObject(response) || response.status === 'queued' || !Array.isArray(response.output))
      continue
    const { read } = contexts(responsesTranslator, ours)
    const { choices, usage } = responsesTranslator.parseResponse(response, read)
    const content = choices[0]?.content ?? []
    const items = response.output.filter(isObject)
    const output = items.flatMap((item) => (item.type === 'message' && Array.isArray(item.content) ? item.content : []))
    assert.is(
      content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      output.map(({ text }) => text).join(''),
      name,
    )
    const called = items.filter(({ type }) => type === 'function_call')
    const calls = content.flatMap((part) => (part.type === 'tool-call' ? [[part.name, part.arguments]] : []))
    assert.equal(
      calls,
      called.map((call) => [call.name, call.arguments]),
      name,
    )
    const thoughts = items.filter((item) => item.type === 'reasoning' && hasReasoning(item))
    assert.is(content.filter(({ type }) => type === 'reasoning').length, thoughts.length, name)
    assert.is(usage?.inputTokens, isObject(response.usage) ? response.usage.input_tokens : undefined, name)
    understood++
  }
  assert.ok(understood > 300, String(understood))
})

const hasReasoning = (item: JsonObject) =>
  [item.encrypted_content, item.summary, item.content].some((value) => value && (value as unknown[]).length > 0)

/** Reasons why a recorded request can't be translated. */
const refusals = /does not store responses|only work with one vendor|cannot be selected with other/

test('rewriting and reparsing a recorded request leaves it unchanged', () => {
  let understood = 0
  let rejected = 0
  for (const { name, request } of exchanges()) {
    if (!isObject(request) || !('input' in request)) continue
    const { warnings, target } = contexts(responsesTranslator, ours)
    const parse = (body: JsonObject) => {
      const { client: _, ...parsed } = responsesTranslator.parseRequest(body, { warnings })
      return parsed
    }
    let parsed: ReturnType<typeof parse>
    try {
      parsed = parse(request)
    } catch (error) {
      assert.match(String(error), refusals, name)
      rejected++
      continue
    }
    const { supportedOptions } = responsesTranslator
    const prepare = (from: typeof parsed) => prepareRequest(from, { ...target, supportedOptions }).request
    const prepared = prepare(parsed)
    const written = responsesTranslator.writeRequest(prepared, target)
    assert.is(written.body.store, false)
    const again = prepare(parse(written.body))
    assert.equal(again.turns, prepared.turns, name)
    assert.equal(again.output, prepared.output, name)
    assert.equal(again.toolChoice, prepared.toolChoice, name)
    assert.equal(
      again.tools.map((tool) => ({ ...tool, strict: undefined })),
      prepared.tools.map((tool) => ({ ...tool, strict: undefined })),
      name,
    )
    understood++
  }
  assert.ok(understood > 330, `${understood} parsed, ${rejected} rejected`)
})
