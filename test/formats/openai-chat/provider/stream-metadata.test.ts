import { assert, suite } from '../../../support/suite.ts'
import { call, delta, fn, read, stop } from '../support/read-stream.ts'

const test = suite('Chat Completions stream metadata')

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

test('the ID and model come from the first chunk that has them', () => {
  const { events } = read([{ id: '', model: '', choices: [] }, delta({ content: 'a' }), stop])
  assert.equal(events[0], { type: 'start', id: 'chatcmpl-1', model: 'm' })
})

test('finds usage before, with, and after the finish reason, and in Groq’s field', () => {
  const expected = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  assert.equal(read([{ usage, choices: [] }, delta({ content: 'a' }), stop, '[DONE]']).usage, expected)
  assert.equal(read([delta({ content: 'a' }), { ...stop, usage }]).usage, expected)
  assert.equal(read([delta({ content: 'a' }), stop, { usage, choices: [] }, '[DONE]']).usage, expected)
  assert.equal(read([delta({ content: 'a' }), { ...stop, x_groq: { usage } }]).usage, expected)
})

test('an error in a chunk ends the response, even if more chunks follow', () => {
  const error = { code: 429, message: 'slow down' }
  const { events } = read([delta({ content: 'a' }), { error }, '[DONE]'])
  const known = { status: 429, message: 'slow down' }
  assert.equal(events.at(-1), { type: 'error', error: { kind: 'rate-limit', ...known, source: { ...known, error } } })
})

test('a call without a name is dropped with a warning', () => {
  assert.equal(read([call({ index: 0, id: 'a', ...fn('', '{}') }), stop]).responseWarnings, [
    'dropped:answer.tool_calls',
  ])
})

test('the state of reasoning details contains all fields except the text', () => {
  const detail = (fields: object) =>
    delta({ reasoning: 'x', reasoning_details: [{ type: 'reasoning.text', index: 0, ...fields }] })
  const { events, parts } = read([
    detail({ text: 'h', format: 'anthropic-claude-v1', signature: '' }),
    detail({ text: 'm' }),
    detail({ signature: 'sig' }),
    delta({ content: 'a' }),
    stop,
  ])
  assert.equal(parts, ['reasoning: hm', 'text: a'])
  const state = events.find((event) => event.type === 'part-state')
  assert.ok(state?.type === 'part-state')
  assert.equal(JSON.parse(state.state.data), {
    type: 'reasoning.text',
    index: 0,
    format: 'anthropic-claude-v1',
    signature: 'sig',
  })
})

test("a call's signature can arrive with the call or after its arguments", () => {
  const extra_content = { google: { thought_signature: 's' } }
  const createSignedCalls = (...calls: object[]) => {
    const { events, parts } = read([...calls.map(call), stop])
    assert.equal(parts, ['f#a: {"x":1}'])
    return events.flatMap((event) => {
      if (event.type === 'part-state') return [event.state.data]
      return event.type === 'part-start' && event.part.type === 'tool-call' ? [event.part.state?.data] : []
    })
  }
  assert.equal(
    createSignedCalls({ index: 0, id: 'a', ...fn('f', '{"x":1}'), extra_content }, { index: 0, extra_content }),
    ['s'],
  )
  assert.equal(createSignedCalls({ id: 'a', ...fn('f', '{"x"') }, fn('', ':1}'), { extra_content }), [undefined, 's'])
})
